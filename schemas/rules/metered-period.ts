import { billingPeriod } from './billing-period.ts';
import type { Span } from './calendar.ts';
import { decimalUnits } from './decimal.ts';
import {
  counts,
  type EntitlementView,
  type HeldSubscription,
  type Holdings,
} from './resolve-entitlements.ts';
import type { SubscriptionTerm } from './subscription-period.ts';

/** Which meter's period, of which moment. */
interface PeriodQuestion {
  meterKey: string;
  atMs: number;
  nowMs: number;
}

/**
 * The period in which a customer's usage of a meter is counted at a moment: that of the oldest subscription
 * whose plan or add-on meters it, one that counts before one that does not; without any the UTC calendar
 * month. A subscription that has ended gives the periods in which it lived. Source: the contract, §3.
 */
export function meteredPeriod({ graceMs, subscriptions }: Holdings, question: PeriodQuestion): Span {
  const { meterKey, atMs, nowMs } = question;
  const metering = subscriptions.filter((one) => meters(one, meterKey) && livedAt(one, atMs));
  const counted = metering.find((one) => one.status === 'canceled' || counts(one, graceMs, nowMs));
  const giving = counted ?? metering[0];
  return billingPeriod(atMs, giving && heldTerm(giving));
}

/** Its recorded period and what follows. */
function heldTerm({ cycle, periodStartMs, periodEndMs }: HeldSubscription): SubscriptionTerm {
  return { cycle, period: { fromMs: periodStartMs, toMs: periodEndMs } };
}

/** What a customer may use of a meter: a decimal text, or null where it is unlimited. Undefined: no limit. */
export type Allowance = string | null | undefined;

/**
 * The limit on a meter: that of its metered feature. Of several features the largest stands, since up to
 * there something is still allowed.
 */
export function meteredAllowance(view: EntitlementView, meterKey: string): Allowance {
  const limits = limitsOn(view, meterKey);
  return limits.includes(null) ? null : limits.map(String).reduce<string | undefined>(larger, undefined);
}

/** The same where it is an amount. */
export function meteredLimit(view: EntitlementView, meterKey: string): string | undefined {
  return meteredAllowance(view, meterKey) ?? undefined;
}

/** Of each metered feature on the meter that has one. */
export function meteredLimits(view: EntitlementView, meterKey: string): string[] {
  return limitsOn(view, meterKey).flatMap((limit) => (limit === null ? [] : [String(limit)]));
}

function limitsOn({ features }: EntitlementView, meterKey: string) {
  return [...features.values()].flatMap((one) => (one.meterKey === meterKey ? [one.value] : []));
}

/** Whether it gives something on the meter. */
export function meters({ grants }: HeldSubscription, meterKey: string): boolean {
  return grants.some((grant) => grant.meterKey === meterKey);
}

/** Whether it had begun by then, and had not ended. */
export function livedAt({ status, startsAtMs, canceledAtMs }: HeldSubscription, atMs: number): boolean {
  if (status === 'incomplete' || status === 'incomplete_expired') return false;
  return startsAtMs <= atMs && (canceledAtMs === null || atMs < canceledAtMs);
}

function larger(a: string | undefined, b: string): string {
  return a !== undefined && decimalUnits(a) >= decimalUnits(b) ? a : b;
}
