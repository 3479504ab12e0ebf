import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import type { CreditReading } from './credit-cover.ts';
import { creditUnits } from './credit-units.ts';
import type { EntitlementFacts } from './decide-entitlement.ts';
import { decideHold } from './decide-hold.ts';

/* Red when open holds are left out of what is used, or out of what credits pay. */

const ONE = 10n ** 12n;

function factsOf(current: number, limit: string | null, credit?: CreditReading): EntitlementFacts {
  const value = { type: 'metered', meterKey: 'm', value: limit, soft: false, isOverride: false } as const;
  const held = { ...value, sources: ['plan:p'], contributions: undefined, graceEndsMs: undefined };
  return {
    customer: 'active',
    featureType: 'metered',
    view: { features: new Map([['f', held]]), withheld: new Map(), standing: 'none' },
    counter: { current: String(current), resetsAtMs: undefined, asOfMs: 0 },
    credit,
  };
}

const question = (amount: number) => ({ customerId: 'c', featureKey: 'f', requested: String(amount) });

describe('a hold', () => {
  it('shows what is held as used, and what is left', () => {
    const { decision } = decideHold(question(3), factsOf(4, '10'), { held: 4n * ONE, creditsElsewhere: 0n });
    expect(JSON.parse(exactJson(decision))).toMatchObject({ allowed: false, current: 8, remaining: 2 });
  });

  it('of an unlimited feature is granted, and nothing goes beyond', () => {
    const verdict = decideHold(question(3), factsOf(4, null), { held: 4n * ONE, creditsElsewhere: 0n });
    expect([verdict.decision.allowed, verdict.beyond]).toEqual([true, 0n]);
  });

  it('never reads credits that others hold as unpaid', () => {
    const credit = { balance: '5', unpaid: '0', rate: '1' };
    const open = { held: 0n, creditsElsewhere: creditUnits('9') };
    const { decision } = decideHold(question(1), factsOf(10, '10', credit), open);
    expect(decision.reason).toContain('0 are left');
  });

  it('is granted as long as limit and credits reach, whatever the order and the amounts', () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 });
    const given = fc.record({ used: fc.nat(20), limit: fc.nat(20), balance: fc.nat(60), amounts });
    fc.assert(
      fc.property(given, ({ used, limit, balance, amounts: asked }) => {
        const credit = { balance: String(balance), unpaid: '0', rate: '2' };
        let held = 0;
        for (const amount of asked) {
          const open = { held: BigInt(held) * ONE, creditsElsewhere: 0n };
          const { decision, beyond } = decideHold(
            question(amount),
            factsOf(used, String(limit), credit),
            open,
          );
          // In whole numbers: what all holds together need beyond the larger of limit and usage.
          const need = Math.max(0, used + held + amount - Math.max(limit, used));
          const taken = Math.max(0, used + held - Math.max(limit, used)) * 2;
          const fits = used + held + amount <= limit || (balance > taken && need * 2 <= balance);
          expect(decision.allowed).toBe(fits);
          expect(beyond).toBe(BigInt(need) * ONE);
          if (decision.allowed) held += amount;
        }
      }),
    );
  });
});
