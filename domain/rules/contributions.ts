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
 * What makes up an effective value, in the order given. For a limit: everything that is added up; for an
 * unlimited value: what makes it unlimited; for a boolean: the sources with the same value. Subscriptions
 * that give the same by the same source are listed once, with their number. Undefined when there are too many
 * to list: a part of the list would not add up.
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

/** The single contribution that replaces everything else. */
export function wholeContribution(source: string, value: boolean | string | null): Contribution[] {
  return [{ source, value: typeof value === 'string' ? exactNumber(value) : value }];
}

function shown({ source, quantity, enabled, amount }: SourceGrant): Contribution {
  const value = amount === null ? enabled : exactNumber(amount);
  return { source, value, ...(quantity === 1 ? {} : { quantity }) };
}
