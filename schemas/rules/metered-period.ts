import { billingPeriod } from './billing-period.ts';
import type { Span } from './calendar.ts';
import { decimalUnits } from './decimal.ts';
import {
  counts,
  type EntitlementView,
  type HeldSubscription,
  type Holdings,
} from './resolve-entitlements.ts';

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
  return billingPeriod(atMs, (counted ?? metering[0])?.cycle);
}

/**
 * The limit on a meter: that of its metered feature. Of several features the largest stands, since up to
 * there something is still allowed. Undefined where there is none, or no end.
 */
export function meteredLimit({ features }: EntitlementView, meterKey: string): string | undefined {
  const limits = [...features.values()].flatMap((one) => (one.meterKey === meterKey ? [one.value] : []));
  if (limits.includes(null)) return undefined;
  return limits.map(String).reduce<string | undefined>(larger, undefined);
}

function meters({ grants }: HeldSubscription, meterKey: string): boolean {
  return grants.some((grant) => grant.meterKey === meterKey);
}

function livedAt({ status, createdAtMs, canceledAtMs, cycle }: HeldSubscription, atMs: number): boolean {
  if (status === 'incomplete' || status === 'incomplete_expired') return false;
  const hasBegun = Math.min(createdAtMs, cycle.anchorMs) <= atMs;
  return hasBegun && (canceledAtMs === null || atMs < canceledAtMs);
}

function larger(a: string | undefined, b: string): string {
  return a !== undefined && decimalUnits(a) >= decimalUnits(b) ? a : b;
}
