import { expect, it } from 'vitest';
import { giveBack, returnOf, takeBuffer } from './body-buffers.ts';

it('memory that was given back is used again, by one body at a time, and a bounded part is kept', () => {
  const first = takeBuffer(100_000);
  const second = takeBuffer(100_000);
  expect([first.length, first.buffer === second.buffer]).toEqual([100_000, false]);
  giveBack(first.subarray(5, 10));
  const third = takeBuffer(90_000);
  expect([third.length, third.buffer === first.buffer]).toEqual([90_000, true]);
  expect(takeBuffer(90_000).buffer).not.toBe(first.buffer);
  giveBack(takeBuffer(3 * 1024 * 1024));
  for (let at = 0; at < 20; at++) giveBack(new Uint8Array(1_000_000));
  const kept = Array.from({ length: 20 }, () => takeBuffer(900_000).buffer.byteLength === 1_000_000);
  expect(kept.filter(Boolean).length).toBeLessThanOrEqual(8);
  expect(kept[0]).toBe(true);
});

it('is given back once, when it is settled or when what waits longer was copied', () => {
  const body = takeBuffer(100_000);
  const giveBack = returnOf(body);
  giveBack();
  giveBack();
  const [first, second] = [takeBuffer(100_000), takeBuffer(100_000)];
  expect(first.buffer).toBe(body.buffer);
  expect(second.buffer).not.toBe(body.buffer);
});
