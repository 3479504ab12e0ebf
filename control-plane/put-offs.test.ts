import { expect, it } from 'vitest';
import { createPutOffs } from './put-offs.ts';

/** Breaks that turn it red: no bound; the newest taken first; one put off again that keeps its first time. */
function putOffsUnderTest() {
  const clock = { ms: 5_000, monotonicMs: () => clock.ms };
  return { clock, putOffs: createPutOffs<{ id: string }>(clock, ({ id }) => id) };
}

it('what is put off is taken once its time has come, the longest first, and once', () => {
  const { clock, putOffs } = putOffsUnderTest();
  putOffs.add({ id: 'a' });
  clock.ms += 10;
  putOffs.add({ id: 'b' });
  expect(putOffs.all()).toEqual([{ id: 'a' }, { id: 'b' }]);
  clock.ms += 29_989;
  expect(putOffs.take()).toBeUndefined();
  clock.ms += 1;
  expect(putOffs.take()).toEqual({ id: 'a' });
  expect([putOffs.has({ id: 'a' }), putOffs.has({ id: 'b' })]).toEqual([false, true]);
  expect(putOffs.take()).toBeUndefined();
});

it('what is put off again waits behind the others, and from then on', () => {
  const { clock, putOffs } = putOffsUnderTest();
  for (const id of ['a', 'b']) putOffs.add({ id });
  clock.ms += 29_000;
  putOffs.add({ id: 'a' });
  clock.ms += 1_000;
  expect(putOffs.take()).toEqual({ id: 'b' });
  expect(putOffs.take()).toBeUndefined();
});

it('beyond a thousand what waits longest is put off no more', () => {
  const { putOffs } = putOffsUnderTest();
  for (let n = 0; n <= 1_000; n += 1) putOffs.add({ id: String(n) });
  expect(putOffs.all()).toHaveLength(1_000);
  expect(putOffs.has({ id: '0' })).toBe(false);
});
