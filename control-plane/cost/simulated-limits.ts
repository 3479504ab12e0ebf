import type { CustomerWithGrants } from '../../domain/find-customer-grants.ts';
import { type BillingCycle, periodAt } from '../../domain/rules/billing-period.ts';
import { limitWindow, windowsWithin } from '../../domain/rules/limit-windows.ts';
import { type MeteredTerm, UNMETERED } from '../../domain/rules/metered-terms.ts';
import type { Grant } from '../../domain/rules/resolve-entitlements.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import type { UsageQuestion } from '../store/read-priced-usage.ts';
import type { SimulatedCustomerRow } from '../store/simulations.ts';
import type { CostSubject } from './cost-span.ts';
import { unitsOf, valuesOf } from './metered-facts.ts';

/** A limit of a customer in one of its windows. */
export interface LimitInWindow {
  customerId: string;
  featureKey: string;
  soft: boolean;
  limit: bigint;
  question: UsageQuestion;
}

/** Of one limit, the last ones: two months of days. */
const WINDOWS_MAX = 62;

/** What the customer would hold: the simulated plan's grants in place of those of its plans. */
export function withGrants(customer: CustomerWithGrants, grants: readonly Grant[]): CustomerWithGrants {
  const { customerGrants } = customer;
  const subscriptions = customerGrants.subscriptions.map((one) => ({
    ...one,
    grants: [...grants, ...one.grants.filter(({ source }) => !source.startsWith('plan:'))],
  }));
  return { ...customer, customerGrants: { ...customerGrants, subscriptions } };
}

/**
 * The limits on meters of what a customer would hold now, each with its windows in the billing periods of the
 * customer's first subscription.
 */
export function limitsOf(
  customer: CustomerWithGrants,
  subject: CostSubject,
  { nowMs, aggregations }: { nowMs: number; aggregations: ReadonlyMap<string, Aggregation> },
): LimitInWindow[] {
  const { customerId } = subject;
  return [...valuesOf(customer, nowMs)].flatMap(([featureKey, one]) => {
    const [limit, meterKey] = [unitsOf(one), one.meterKey];
    const aggregation = meterKey === null ? undefined : aggregations.get(meterKey);
    if (limit === undefined || meterKey === null || !aggregation) return [];
    return windowsOf(subject, one.resets ?? 'billing_period', nowMs).map((window): LimitInWindow => {
      const question = { customerId, meterKey, aggregation, parts: [window] };
      return { customerId, featureKey, soft: one.soft, limit, question };
    });
  });
}

/** Of each limit the window with the most usage, where that is beyond it. By customer. */
export function passedLimits(
  limits: readonly LimitInWindow[],
  used: readonly bigint[],
): Map<string, SimulatedCustomerRow['beyond']> {
  const most = new Map<string, { limit: LimitInWindow; used: bigint }>();
  for (const [at, limit] of limits.entries()) {
    const [own, name] = [used[at] ?? 0n, `${limit.customerId} ${limit.featureKey}`];
    if (own > limit.limit && own > (most.get(name)?.used ?? limit.limit))
      most.set(name, { limit, used: own });
  }
  const byCustomer = new Map<string, SimulatedCustomerRow['beyond']>();
  for (const { limit, used: own } of most.values()) {
    const { customerId, featureKey, soft, question } = limit;
    const [window] = question.parts;
    const passed = { featureKey, soft, limit: unitsText(limit.limit), used: unitsText(own) };
    const list = byCustomer.get(customerId) ?? [];
    list.push({ ...passed, fromMs: window?.fromMs ?? 0, toMs: window?.toMs ?? 0 });
    byCustomer.set(customerId, list);
  }
  return byCustomer;
}

/** As far as they are in the span, but for the begin of one that never resets. */
function windowsOf({ terms, span }: CostSubject, resets: Resets, nowMs: number): Span[] {
  const [first, last] = [terms[0], terms.at(-1)];
  const [fromMs, toMs] = [Math.max(span.fromMs, first?.startsMs ?? 0), Math.min(span.toMs, nowMs)];
  if (!first || !last || fromMs >= toMs) return [];
  const term = termOf(first.startsMs, last.cycle);
  if (resets === 'never') return [{ ...limitWindow([term], resets, toMs - 1), toMs }];
  const windows = windowsWithin([term], resets, { fromMs, toMs }).slice(-WINDOWS_MAX);
  return windows.map((one) => ({ fromMs: Math.max(one.fromMs, fromMs), toMs: Math.min(one.toMs, toMs) }));
}

function termOf(startsMs: number, cycle: BillingCycle): MeteredTerm {
  const source = { subscriptionId: '', cycle, period: periodAt(cycle, startsMs) };
  return { ...UNMETERED, source, startsMs, periodStartMs: startsMs, sinceMs: startsMs };
}
