import { expect, it } from 'vitest';
import { createBackoffQueue } from './backoff-queue.ts';

/**
 * Mutants this suite catches: no bound; the newest taken first; one queued again that keeps its first time;
 * the same wait each time; half a minute the first time.
 */
function backoffUnderTest() {
  const clock = { ms: 5_000, monotonicMs: () => clock.ms };
  return { clock, backoff: createBackoffQueue<{ id: string }>(clock, ({ id }) => id) };
}

it('a queued piece is taken once its time has come, the longest waiting first, and once', () => {
  const { clock, backoff } = backoffUnderTest();
  backoff.add({ id: 'a' });
  clock.ms += 10;
  backoff.add({ id: 'b' });
  expect(backoff.all()).toEqual([{ id: 'a' }, { id: 'b' }]);
  clock.ms += 1_989;
  expect(backoff.take()).toBeUndefined();
  clock.ms += 1;
  expect(backoff.take()).toEqual({ id: 'a' });
  expect([backoff.has({ id: 'a' }), backoff.has({ id: 'b' })]).toEqual([false, true]);
  expect(backoff.take()).toBeUndefined();
});

it('what fails again waits twice as long, up to half a minute', () => {
  const { clock, backoff } = backoffUnderTest();
  backoff.add({ id: 'a' });
  for (const waitMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    clock.ms += waitMs - 1;
    expect(backoff.take()).toBeUndefined();
    clock.ms += 1;
    expect(backoff.take()).toEqual({ id: 'a' });
    backoff.add({ id: 'a' });
  }
});

it('a piece that is queued again waits behind the others', () => {
  const { clock, backoff } = backoffUnderTest();
  for (const id of ['a', 'b']) backoff.add({ id });
  backoff.add({ id: 'a' });
  clock.ms += 4_000;
  expect([backoff.take(), backoff.take(), backoff.take()]).toEqual([{ id: 'b' }, { id: 'a' }, undefined]);
});

it('what was done meanwhile waits as for the first time', () => {
  const { clock, backoff } = backoffUnderTest();
  for (const id of ['a', 'b']) backoff.add({ id });
  clock.ms += 2_000;
  expect([backoff.take(), backoff.take()]).toEqual([{ id: 'a' }, { id: 'b' }]);
  backoff.add({ id: 'a' });
  clock.ms += 2_000;
  expect(backoff.take()).toEqual({ id: 'a' });
});

it('beyond a thousand pieces the longest waiting leaves the queue', () => {
  const { backoff } = backoffUnderTest();
  for (let n = 0; n <= 1_000; n += 1) backoff.add({ id: String(n) });
  expect(backoff.all()).toHaveLength(1_000);
  expect(backoff.has({ id: '0' })).toBe(false);
});
