import { expect, test } from 'vitest';
import { createBufferPool } from './buffer-pool.ts';

test('a buffer that was given back is reused for the same size, by one caller at a time', () => {
  const pool = createBufferPool(1_000_000);
  const first = pool.take(100_000);
  expect(first.length).toBeGreaterThanOrEqual(100_000);
  expect(pool.take(100_000).buffer).not.toBe(first.buffer);
  pool.give(first);
  expect(pool.take(90_000).buffer).toBe(first.buffer);
  expect(pool.take(90_000).buffer).not.toBe(first.buffer);
});

// Red when a buffer that was needed once is held forever.
test('no more is held than was configured', () => {
  const pool = createBufferPool(300_000);
  const taken = Array.from({ length: 10 }, () => pool.take(100_000));
  for (const buffer of taken) pool.give(buffer);
  const again = Array.from({ length: 10 }, () => pool.take(100_000));
  const known = new Set(taken.map(({ buffer }) => buffer));
  expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(2);
});

// Red when a loan that is given back twice hands one piece of memory to two.
test('what was lent comes back once, however often it is given back', () => {
  const pool = createBufferPool(1_000_000);
  const { take, giveBack } = pool.loan();
  const lent = [take(100_000), take(100_000)].map(({ buffer }) => buffer);
  giveBack();
  giveBack();
  const again = Array.from({ length: 4 }, () => pool.take(100_000).buffer);
  expect(new Set(again).size).toBe(4);
  expect(again.filter((buffer) => lent.includes(buffer))).toHaveLength(2);
});
