import { expect, it } from 'vitest';
import { isAligned } from './aligned-memory.ts';
import { createMemoryPool, type Loan } from './memory-pool.ts';

it('what one borrower took is lent again when it was given back, and not before', () => {
  const pool = createMemoryPool({ pieceBytes: 100, keptMax: 10 });
  const [one, two] = [pool.lend(), pool.lend()];
  const first = filled(one, 80, 1);
  filled(two, 80, 2);
  expect(first).toEqual(Buffer.alloc(80, 1));
  one.giveBack();
  // A second time there is nothing to give: the piece is not lent to two borrowers.
  one.giveBack();
  filled(two, 80, 3);
  expect(first).toEqual(Buffer.alloc(80, 3));
  filled(pool.lend(), 80, 4);
  expect(first).toEqual(Buffer.alloc(80, 3));
});

it('small ones share a piece, and none overlap; each begins at a page', () => {
  const loan = createMemoryPool({ pieceBytes: 5 * 4096, keptMax: 10 }).lend();
  const parts = [3_000, 0, 5_000, 4_096, 5 * 4096, 1].map((bytes, at) => filled(loan, bytes, at));
  expect(parts.filter((part) => !isAligned(part))).toEqual([]);
  parts.forEach((part, at) => {
    expect(part).toEqual(Buffer.alloc(part.length, at));
  });
  expect(new Set(parts.slice(0, 4).map(({ buffer }) => buffer)).size).toBe(1);
});

// Red when the pool keeps all that it ever lent.
it('no more is kept than the pool may, and nothing that is larger than a piece', () => {
  const pool = createMemoryPool({ pieceBytes: 100, keptMax: 2 });
  const loan = pool.lend();
  const lent = [100, 100, 100, 101].map((bytes) => filled(loan, bytes, 1).buffer);
  loan.giveBack();
  const next = pool.lend();
  const again = Array.from({ length: 4 }, () => filled(next, 100, 2).buffer);
  expect(again.filter((buffer) => lent.includes(buffer))).toHaveLength(2);
  expect(again).not.toContain(lent[3]);
});

function filled(loan: Loan, bytes: number, value: number): Buffer {
  const taken = loan.take(bytes);
  expect(taken).toHaveLength(bytes);
  return taken.fill(value);
}
