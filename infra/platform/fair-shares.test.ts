import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFairShares, type FairShares } from './fair-shares.ts';

/*
 * Mutants that turn it red: only the whole is bounded, as it was; a share is half of the whole whatever
 * others hold; a rejection takes something; returned bytes stay with their name.
 */
const MAX = 1_000;

interface Step {
  name: string;
  amount: number;
  /** Gives back the oldest that is held under this name in place of taking. */
  isGiven: boolean;
}

const stepsOf = (names: number) =>
  fc.array(
    fc.record<Step>({
      name: fc.integer({ min: 1, max: names }).map((number) => `env-${number}`),
      amount: fc.integer({ min: 1, max: 300 }),
      isGiven: fc.boolean(),
    }),
    { maxLength: 200 },
  );

/** What each name holds after these steps, as a model counts it. */
function run(shares: FairShares, steps: Step[], onTaken: (share: number, total: number) => void) {
  const holds = new Map<string, number[]>();
  const heldBy = (name: string) => (holds.get(name) ?? []).reduce((sum, one) => sum + one, 0);
  const total = () => [...holds.keys()].reduce((sum, name) => sum + heldBy(name), 0);
  for (const { name, amount, isGiven } of steps) {
    const held = holds.get(name) ?? [];
    holds.set(name, held);
    if (isGiven) {
      const given = held.shift();
      if (given !== undefined) shares.give(name, given);
    } else if (shares.take(name, amount)) {
      held.push(amount);
      onTaken(heldBy(name), total());
    }
    expect(shares.held).toBe(total());
  }
  return { total };
}

/** How much this name gets, one after the other. */
function takeAll(shares: FairShares, name: string): number {
  let taken = 0;
  while (taken < 10_000 && shares.take(name, 1)) taken += 1;
  return taken;
}

describe('fair shares', () => {
  it('give no name more than they leave free, and never more than there is', () => {
    fc.assert(
      fc.property(stepsOf(5), (steps) => {
        run(createFairShares(MAX), steps, (share, total) => {
          expect(total).toBeLessThanOrEqual(MAX);
          expect(share).toBeLessThanOrEqual(MAX - total);
        });
      }),
      { seed: 20261125, numRuns: 500 },
    );
  });

  it('leave a newcomer its part, whatever one to four others have taken and given back', () => {
    for (const names of [1, 2, 3, 4]) {
      fc.assert(
        fc.property(stepsOf(names), (steps) => {
          const shares = createFairShares(MAX);
          run(shares, steps, () => undefined);
          expect(shares.take('newcomer', Math.floor(MAX / 2 ** (names + 1)))).toBe(true);
        }),
        { seed: 20261125, numRuns: 500 },
      );
    }
  });

  it('give one that is alone half, and two a third each as they take in turns', () => {
    const shares = createFairShares(900);
    expect(takeAll(shares, 'a')).toBe(450);
    shares.give('a', 450);
    const taken = { a: 0, b: 0 };
    for (let turn = 0; turn < 900; turn += 1) {
      if (shares.take('a', 1)) taken.a += 1;
      if (shares.take('b', 1)) taken.b += 1;
    }
    expect(taken).toEqual({ a: 300, b: 300 });
  });

  it('give what is never too much as long as it is there', () => {
    const shares = createFairShares(100, 60);
    expect([shares.take('a', 60), shares.take('a', 1)]).toEqual([true, false]);
    expect([shares.take('b', 41), shares.take('b', 40), shares.take('c', 1)]).toEqual([false, true, false]);
    shares.give('b', 40);
    expect(shares.take('c', 40)).toBe(true);
  });

  it('are those of as many names as there come', () => {
    const shares = createFairShares(10_000);
    for (let round = 0; round < 2; round += 1) {
      for (let name = 0; name < 2_000; name += 1) expect(shares.take(`env-${name}`, 3)).toBe(true);
      for (let name = 0; name < 2_000; name += 1) shares.give(`env-${name}`, 3);
    }
    expect(shares.held).toBe(0);
    expect(takeAll(shares, 'env-7')).toBe(5_000);
  });
});
