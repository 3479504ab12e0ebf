import { expect, onTestFinished, test, vi } from 'vitest';
import { onStopSignals } from './stop-signals.ts';

/** Red when every further signal forces: a Ctrl-C under npm would never drain. */
test('one press of Ctrl-C that arrives twice stops, and only a later signal forces', () => {
  vi.useFakeTimers();
  const before = process.listeners('SIGINT');
  onTestFinished(() => {
    vi.useRealTimers();
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const added = process.listeners(name).at(-1);
      if (added) process.off(name, added);
    }
    expect(process.listeners('SIGINT')).toEqual(before);
  });
  const [stop, force] = [vi.fn(), vi.fn()];
  onStopSignals(stop, force);
  process.emit('SIGINT', 'SIGINT');
  expect(stop).toHaveBeenCalledWith('SIGINT');
  vi.advanceTimersByTime(100);
  process.emit('SIGINT', 'SIGINT');
  expect([stop.mock.calls.length, force.mock.calls.length]).toEqual([1, 0]);
  vi.advanceTimersByTime(1_000);
  process.emit('SIGTERM', 'SIGTERM');
  expect([stop.mock.calls.length, force.mock.calls.length]).toEqual([1, 1]);
});
