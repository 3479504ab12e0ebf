import { expect, it } from 'vitest';
import { ALIGNMENT_BYTES, isAligned } from './aligned-memory.ts';
import { createMemoryPool, type Loan } from './memory-pool.ts';

/** All sizes here are in pages. */
const SIZES = { pieceBytes: 100 * ALIGNMENT_BYTES, keptBytesMax: 1_000 * ALIGNMENT_BYTES };

it('what one borrower took is lent again when it was given back, and not before', () => {
  const pool = createMemoryPool(SIZES);
  const [one, two] = [pool.lend(), pool.lend()];
  const first = filled(one, 80, 1);
  filled(two, 80, 2);
  expect(holds(first, 1)).toBe(true);
  one.giveBack();
  // A second time there is nothing to give: the piece is not lent to two borrowers.
  one.giveBack();
  filled(two, 80, 3);
  expect(holds(first, 3)).toBe(true);
  filled(pool.lend(), 80, 4);
  expect(holds(first, 3)).toBe(true);
});

it('small parts share a piece and are aligned, large ones have their own, and none overlap', () => {
  const loan = createMemoryPool(SIZES).lend();
  const parts = [30, 0, 30, 250, 30, 30, 100, 101, 1].map((bytes, at) => filled(loan, bytes, at));
  expect(parts.map(holds)).toEqual(parts.map(() => true));
  expect(parts.map(isAligned)).toEqual(parts.map(({ length }) => length <= SIZES.pieceBytes));
  expect(new Set([0, 1, 2, 4].map((at) => parts[at]?.buffer)).size).toBe(1);
});

it('a large part is lent again for one of about its size', () => {
  const pool = createMemoryPool(SIZES);
  const loan = pool.lend();
  const large = filled(loan, 450, 1).buffer;
  loan.giveBack();
  const next = pool.lend();
  expect(filled(next, 20, 2).buffer).not.toBe(large);
  expect(filled(next, 420, 3).buffer).toBe(large);
});

// Red when the pool keeps all that it ever lent.
it('no more is kept than the pool may', () => {
  const pool = createMemoryPool({ ...SIZES, keptBytesMax: 250 * ALIGNMENT_BYTES });
  const loan = pool.lend();
  const lent = [100, 100, 100].map((bytes) => filled(loan, bytes, 1).buffer);
  loan.giveBack();
  const next = pool.lend();
  const again = Array.from({ length: 4 }, () => filled(next, 100, 2).buffer);
  expect(again.filter((buffer) => lent.includes(buffer))).toHaveLength(2);
});

/** All of it. `toEqual` takes seconds for megabytes. */
function holds(part: Buffer, value: number): boolean {
  return part.equals(Buffer.alloc(part.length, value));
}

function filled(loan: Loan, pages: number, value: number): Buffer {
  const taken = loan.take(pages * ALIGNMENT_BYTES);
  expect(taken).toHaveLength(pages * ALIGNMENT_BYTES);
  return taken.fill(value);
}
