import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BurnableGrant, takeCredits } from './credit-order.ts';

/*
 * Which grants a burn takes from, against an oracle that takes one unit after the other from the best grant.
 *
 * Mutants that turn it red: priorities the other way round; a grant that never expires before one that does;
 * the youngest first; a grant taken from though nothing is left to be taken.
 */
const at = (ms: number | null) => (ms === null ? null : new Date(ms));

const grants = fc
  .uniqueArray(
    fc.record({
      // Few values, so that there are equal ones, which the next criterion has to order.
      id: fc.string({ minLength: 1, maxLength: 2, unit: fc.constantFrom('a', 'b', 'c') }),
      priority: fc.integer({ min: 0, max: 2 }),
      expiresAt: fc.option(fc.integer({ min: 1, max: 3 })),
      createdAt: fc.integer({ min: 1, max: 3 }),
      remaining: fc.integer({ min: 1, max: 9 }),
    }),
    { selector: ({ id }) => id, maxLength: 8 },
  )
  .map((all) =>
    all.map(({ id, priority, expiresAt, createdAt, remaining }) => ({
      id,
      priority,
      expiresAt: at(expiresAt),
      createdAt: new Date(createdAt),
      remaining: BigInt(remaining),
    })),
  );

describe('credits are taken', () => {
  it('by priority, then what expires first, then the oldest, as one unit after the other would be', () => {
    fc.assert(
      fc.property(grants, fc.integer({ min: 0, max: 60 }), (held, units) => {
        const { takings, rest } = takeCredits(held, BigInt(units));
        const expected = takeOneByOne(held, units);
        const left = new Map(held.map(({ id, remaining }) => [id, remaining]));
        for (const { grantId, remaining } of takings) left.set(grantId, remaining);
        expect(left).toEqual(expected.left);
        expect(rest).toBe(BigInt(expected.rest));
        // Nothing is written of a grant that gave nothing.
        expect(takings.map(({ grantId }) => grantId).sort()).toEqual([...expected.touched].sort());
      }),
      { numRuns: 10_000 },
    );
  });
});

function takeOneByOne(held: readonly BurnableGrant[], units: number) {
  const left = new Map(held.map(({ id, remaining }) => [id, remaining]));
  const touched = new Set<string>();
  for (let taken = 0; taken < units; taken += 1) {
    let best: BurnableGrant | undefined;
    for (const grant of held) {
      if (left.get(grant.id) !== 0n && (!best || isBetter(grant, best))) best = grant;
    }
    if (!best) return { left, touched, rest: units - taken };
    left.set(best.id, (left.get(best.id) ?? 0n) - 1n);
    touched.add(best.id);
  }
  return { left, touched, rest: 0 };
}

/** The same rule, written in another way. */
function isBetter(one: BurnableGrant, other: BurnableGrant): boolean {
  const rank = ({ priority, expiresAt, createdAt, id }: BurnableGrant) =>
    [
      String(priority).padStart(4, '0'),
      expiresAt === null ? 'never' : `at ${String(expiresAt.getTime()).padStart(4, '0')}`,
      String(createdAt.getTime()).padStart(4, '0'),
      id,
    ].join('|');
  return rank(one) < rank(other);
}
