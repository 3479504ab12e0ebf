import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Defect } from '../../schemas/failures.ts';
import { type CreditUses, giveBack, payUnpaid, put, spread, UNPAID } from './credit-uses.ts';

/*
 * What paid for usage, against a walk over single units.
 *
 * Mutants that turn it red: grants given back to before the unpaid rest; the first grant before the last; the
 * unpaid rest of another meter forgotten; a grant that pays one meter twice.
 */
const METERS = ['a', 'b', 'c'] as const;
const GRANTS = ['g1', 'g2', 'g3'] as const;

interface Unit {
  meterKey: string;
  grantId: string;
}

const units = fc.array(
  fc.record({ meterKey: fc.constantFrom(...METERS), grantId: fc.constantFrom(...GRANTS, UNPAID) }),
  { maxLength: 30 },
);

function usesOf(all: readonly Unit[]): CreditUses {
  const uses: CreditUses = new Map();
  for (const meterKey of METERS) {
    for (const unit of all) if (unit.meterKey === meterKey) put(uses, { ...unit, units: 1n });
  }
  return uses;
}

function shown(uses: CreditUses): string[] {
  return [...uses]
    .flatMap(([meterKey, own]) => [...own].map(([grantId, amount]) => `${meterKey} ${grantId} ${amount}`))
    .sort();
}

/** One unit of a meter less. Gives the grant that gets it, or what is unpaid. */
function giveOneBack(all: Unit[], meterKey: string): string {
  const own = (grantId: string) =>
    all.findIndex((one) => one.meterKey === meterKey && one.grantId === grantId);
  const from = [UNPAID, ...[...GRANTS].reverse()].find((grantId) => own(grantId) >= 0) ?? UNPAID;
  all.splice(own(from), 1);
  const owing = METERS.find((key) => all.some((one) => one.meterKey === key && one.grantId === UNPAID));
  const owed = all.find((one) => one.meterKey === owing && one.grantId === UNPAID);
  if (from === UNPAID || !owed) return from;
  owed.grantId = from;
  return UNPAID;
}

describe('what is given back', () => {
  it('is spent unit by unit on what is unpaid, of whichever meter, then to the last grant that paid', () => {
    fc.assert(
      fc.property(units, fc.constantFrom(...METERS), fc.nat(30), (all, meterKey, wanted) => {
        const count = Math.min(wanted, all.filter((one) => one.meterKey === meterKey).length);
        const uses = usesOf(all);
        const given = giveBack(uses, { meterKey, units: BigInt(count) }, GRANTS);
        const left = [...all.map((one) => ({ ...one }))];
        const places = Array.from({ length: count }, () => giveOneBack(left, meterKey));
        const countOf = (grantId: string) => BigInt(places.filter((one) => one === grantId).length);
        expect(given.unpaid).toBe(countOf(UNPAID));
        for (const grantId of GRANTS) {
          const got = given.grants.filter((one) => one.grantId === grantId);
          expect(got.reduce((sum, one) => sum + one.units, 0n)).toBe(countOf(grantId));
        }
        expect(shown(uses)).toEqual(shown(usesOf(left)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never more than was burned', () => {
    const uses = usesOf([{ meterKey: 'a', grantId: 'g1' }]);
    expect(() => giveBack(uses, { meterKey: 'a', units: 2n }, GRANTS)).toThrow(Defect);
  });
});

it('a grant pays what is unpaid, meter by meter, and no more than there is', () => {
  fc.assert(
    fc.property(units, fc.nat(20), (all, amount) => {
      const uses = usesOf(all);
      payUnpaid(uses, { grantId: 'new', units: BigInt(amount) });
      const left: Unit[] = all.map((one) => ({ ...one }));
      const owed = METERS.flatMap((key) =>
        left.filter((one) => one.meterKey === key && one.grantId === UNPAID),
      );
      for (const one of owed.slice(0, amount)) one.grantId = 'new';
      expect(shown(uses)).toEqual(shown(usesOf(left)));
    }),
  );
});

it('what grants gave is spread over what burned it, in order, and the rest is unpaid', () => {
  const amounts = fc.array(fc.bigInt({ min: 0n, max: 9n }), { maxLength: 5 });
  fc.assert(
    fc.property(amounts, amounts, (burned, taken) => {
      const burns = burned.map((amount) => ({ units: amount }));
      const takings = taken.map((amount, at) => ({ grantId: `g${at}`, units: amount }));
      const ofGrants = takings.flatMap((one) => Array.from({ length: Number(one.units) }, () => one.grantId));
      for (const { burn, paid, unpaid } of spread(burns, takings)) {
        const own = ofGrants.splice(0, Number(burn.units));
        const shownPaid = paid.flatMap((one) => Array.from({ length: Number(one.units) }, () => one.grantId));
        expect(shownPaid).toEqual(own);
        expect(unpaid).toBe(burn.units - BigInt(own.length));
      }
      expect(takings.map((one) => one.units)).toEqual(taken);
    }),
  );
});
