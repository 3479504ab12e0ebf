import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import type { Contribution } from '../../schemas/resources/entitlements.ts';

/** What one source gives of a feature. */
export interface SourceGrant {
  source: string;
  quantity: number;
  /** For boolean features. */
  enabled: boolean | null;
  /** For the others: plain decimal text, null is unlimited. */
  amount: string | null;
}

/** Of one value. A hundred subscriptions with their add-ons are two thousand sources of each feature. */
const CONTRIBUTIONS_MAX = 100;

/**
 * What makes up an effective value, in the order given: of a limit all that is added up, of an unlimited one
 * what makes it so, of a boolean what says the same. Subscriptions that give the same by the same source are
 * told once, with their number. Undefined where there are too many to be told: a part would not add up.
 */
export function contributionsTo(
  value: boolean | string | null,
  grants: readonly SourceGrant[],
): Contribution[] | undefined {
  const counted = new Map<string, SourceGrant>();
  for (const { source, quantity, enabled, amount } of grants) {
    const given = amount === null ? enabled : unitsText(decimalUnits(amount));
    if (typeof value !== 'string' && given !== value) continue;
    const name = `${given} ${source}`;
    const before = counted.get(name)?.quantity ?? 0;
    const canonical = typeof given === 'string' ? given : null;
    counted.set(name, { source, quantity: before + quantity, enabled, amount: canonical });
    if (counted.size > CONTRIBUTIONS_MAX) return undefined;
  }
  return [...counted.values()].map(shown);
}

/** Of what stands in place of everything else. */
export function wholeContribution(source: string, value: boolean | string | null): Contribution[] {
  return [{ source, value: typeof value === 'string' ? exactNumber(value) : value }];
}

function shown({ source, quantity, enabled, amount }: SourceGrant): Contribution {
  const value = amount === null ? enabled : exactNumber(amount);
  return { source, value, ...(quantity === 1 ? {} : { quantity }) };
}
