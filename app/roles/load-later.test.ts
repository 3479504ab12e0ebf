import { expect, it, onTestFinished, vi } from 'vitest';
import { createCloser } from '../../infra/platform/closer.ts';
import { keptLog } from '../../infra/ports/conformance/front-under-test.ts';
import { loadLater } from './load-later.ts';

function timed() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = keptLog();
  return { log, lines, closer: createCloser(log) };
}

it('loads once, after the start, and reports what failed', async () => {
  const { lines, ...context } = timed();
  const load = vi.fn().mockRejectedValue(new Error('no such file'));
  loadLater(context, load);
  expect(load).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(load).toHaveBeenCalledOnce();
  expect(lines).toMatchObject([{ msg: 'modules could not be loaded in advance' }]);
});

/** Red when a stop leaves the timer: modules are then loaded while the process ends. */
it('loads nothing when the process has stopped before', async () => {
  const { closer, log } = timed();
  const load = vi.fn().mockResolvedValue(undefined);
  loadLater({ closer, log }, load);
  const closed = closer.close();
  await vi.advanceTimersByTimeAsync(60_000);
  await closed;
  expect(load).not.toHaveBeenCalled();
});
