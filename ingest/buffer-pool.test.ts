import { expect, test } from 'vitest';
import { createBufferPool } from './buffer-pool.ts';

test('what was given back is taken again by whoever needs as much, and by one at a time', () => {
  const pool = createBufferPool(1_000_000);
  const first = pool.take(100_000);
  expect(first.length).toBeGreaterThanOrEqual(100_000);
  expect(pool.take(100_000).buffer).not.toBe(first.buffer);
  pool.give(first);
  expect(pool.take(90_000).buffer).toBe(first.buffer);
  expect(pool.take(90_000).buffer).not.toBe(first.buffer);
});

// Red when what one moment needed is held for ever.
test('no more is held than was said', () => {
  const pool = createBufferPool(300_000);
  const taken = Array.from({ length: 10 }, () => pool.take(100_000));
  for (const buffer of taken) pool.give(buffer);
  const again = Array.from({ length: 10 }, () => pool.take(100_000));
  const known = new Set(taken.map(({ buffer }) => buffer));
  expect(again.filter(({ buffer }) => known.has(buffer))).toHaveLength(2);
});
