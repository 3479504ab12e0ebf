import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import { creditText, creditUnits, larger } from './credit-units.ts';
import { decideEntitlement, type EntitlementFacts, type EntitlementQuestion } from './decide-entitlement.ts';

/** What open holds of a customer take. */
export interface OpenHolds {
  /** Of this meter, units of 10^-12. */
  held: bigint;
  /** Credits for what the customer holds of other meters beyond their limits, units of 10^-24. */
  creditsElsewhere: bigint;
}

export interface HoldVerdict {
  decision: EntitlementDecision;
  /** Of all that is held of the meter if this is granted, what goes beyond the limit: units of 10^-12. */
  beyond: bigint;
  /** Credits for one unit of that. */
  rate: string;
}

export interface HoldQuestion extends EntitlementQuestion {
  /** Canonical decimal text above 0. */
  requested: string;
}

/**
 * Decides a hold like a check, where what open holds take counts as used: of the limit their amounts, of the
 * credits what they cost beyond it. `facts` have usage without holds.
 */
export function decideHold(question: HoldQuestion, facts: EntitlementFacts, open: OpenHolds): HoldVerdict {
  const { counter, credit } = facts;
  const rate = credit?.rate ?? '0';
  // Without a counter there is nothing to hold: the decision is a denial.
  if (!counter) return { decision: decideEntitlement(question, facts), beyond: 0n, rate };
  const used = decimalUnits(counter.current);
  const limit = facts.view.features.get(question.featureKey)?.value;
  const beyondOf = (held: bigint) => {
    return typeof limit === 'string' ? larger(0n, used + held - larger(decimalUnits(limit), used)) : 0n;
  };
  const taken = open.creditsElsewhere + beyondOf(open.held) * decimalUnits(rate);
  const decision = decideEntitlement(question, {
    ...facts,
    counter: { ...counter, current: unitsText(used + open.held) },
    // Never below 0: that would read as unpaid.
    credit: credit && { ...credit, balance: creditText(larger(0n, creditUnits(credit.balance) - taken)) },
  });
  return { decision, beyond: beyondOf(open.held + decimalUnits(question.requested)), rate };
}
