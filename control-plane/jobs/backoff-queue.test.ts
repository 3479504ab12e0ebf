import { expect, it } from 'vitest';
import { createBackoffQueue } from './backoff-queue.ts';

/**
 * Mutants this suite catches: no bound; the newest taken first; one queued again that keeps its first time;
 * the same wait each time; half a minute the first time.
 */
function putOffsUnderTest() {
  const clock = { ms: 5_000, monotonicMs: () => clock.ms };
  return { clock, putOffs: createBackoffQueue<{ id: string }>(clock, ({ id }) => id) };
}

it('a queued piece is taken once its time has come, the longest waiting first, and once', () => {
  const { clock, putOffs } = putOffsUnderTest();
  putOffs.add({ id: 'a' });
  clock.ms += 10;
  putOffs.add({ id: 'b' });
  expect(putOffs.all()).toEqual([{ id: 'a' }, { id: 'b' }]);
  clock.ms += 1_989;
  expect(putOffs.take()).toBeUndefined();
  clock.ms += 1;
  expect(putOffs.take()).toEqual({ id: 'a' });
  expect([putOffs.has({ id: 'a' }), putOffs.has({ id: 'b' })]).toEqual([false, true]);
  expect(putOffs.take()).toBeUndefined();
});

it('what fails again waits twice as long, up to half a minute', () => {
  const { clock, putOffs } = putOffsUnderTest();
  putOffs.add({ id: 'a' });
  for (const waitMs of [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    clock.ms += waitMs - 1;
    expect(putOffs.take()).toBeUndefined();
    clock.ms += 1;
    expect(putOffs.take()).toEqual({ id: 'a' });
    putOffs.add({ id: 'a' });
  }
});

it('a piece that is queued again waits behind the others', () => {
  const { clock, putOffs } = putOffsUnderTest();
  for (const id of ['a', 'b']) putOffs.add({ id });
  putOffs.add({ id: 'a' });
  clock.ms += 4_000;
  expect([putOffs.take(), putOffs.take(), putOffs.take()]).toEqual([{ id: 'b' }, { id: 'a' }, undefined]);
});

it('what was done meanwhile waits as for the first time', () => {
  const { clock, putOffs } = putOffsUnderTest();
  for (const id of ['a', 'b']) putOffs.add({ id });
  clock.ms += 2_000;
  expect([putOffs.take(), putOffs.take()]).toEqual([{ id: 'a' }, { id: 'b' }]);
  putOffs.add({ id: 'a' });
  clock.ms += 2_000;
  expect(putOffs.take()).toEqual({ id: 'a' });
});

it('beyond a thousand pieces the longest waiting leaves the queue', () => {
  const { putOffs } = putOffsUnderTest();
  for (let n = 0; n <= 1_000; n += 1) putOffs.add({ id: String(n) });
  expect(putOffs.all()).toHaveLength(1_000);
  expect(putOffs.has({ id: '0' })).toBe(false);
});
