import type { CustomerWithGrants } from '../../domain/find-customer-grants.ts';
import { periodAt } from '../../domain/rules/billing-period.ts';
import type { Grant } from '../../domain/rules/resolve-entitlements.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { UsageQuestion } from '../store/read-priced-usage.ts';
import type { SimulatedCustomerRow } from '../store/simulations.ts';
import type { CostSubject } from './cost-span.ts';
import { unitsOf, valuesOf } from './metered-facts.ts';

/** A limit of a customer in one of its billing periods. */
export interface LimitInPeriod {
  customerId: string;
  featureKey: string;
  soft: boolean;
  limit: bigint;
  question: UsageQuestion;
}

/** Of one subscription, the last ones. */
const PERIODS_MAX = 13;

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
 * The limits on meters of what a customer would hold now, each with the billing periods of its first
 * subscription, as far as they are in the span.
 */
export function limitsOf(
  customer: CustomerWithGrants,
  subject: CostSubject,
  { nowMs, aggregations }: { nowMs: number; aggregations: ReadonlyMap<string, Aggregation> },
): LimitInPeriod[] {
  const { customerId } = subject;
  const periods = periodsIn(subject, nowMs);
  return [...valuesOf(customer, nowMs)].flatMap(([featureKey, one]) => {
    const [limit, meterKey] = [unitsOf(one), one.meterKey];
    const aggregation = meterKey === null ? undefined : aggregations.get(meterKey);
    if (limit === undefined || meterKey === null || !aggregation) return [];
    return periods.map((period): LimitInPeriod => {
      const question = { customerId, meterKey, aggregation, parts: [period] };
      return { customerId, featureKey, soft: one.soft, limit, question };
    });
  });
}

/** Of each limit the period with the most usage, where that is beyond it. By customer. */
export function passedLimits(
  limits: readonly LimitInPeriod[],
  used: readonly bigint[],
): Map<string, SimulatedCustomerRow['beyond']> {
  const most = new Map<string, { limit: LimitInPeriod; used: bigint }>();
  for (const [at, limit] of limits.entries()) {
    const [own, name] = [used[at] ?? 0n, `${limit.customerId} ${limit.featureKey}`];
    if (own > limit.limit && own > (most.get(name)?.used ?? limit.limit))
      most.set(name, { limit, used: own });
  }
  const byCustomer = new Map<string, SimulatedCustomerRow['beyond']>();
  for (const { limit, used: own } of most.values()) {
    const { customerId, featureKey, soft, question } = limit;
    const [period] = question.parts;
    const passed = { featureKey, soft, limit: unitsText(limit.limit), used: unitsText(own) };
    const list = byCustomer.get(customerId) ?? [];
    list.push({ ...passed, fromMs: period?.fromMs ?? 0, toMs: period?.toMs ?? 0 });
    byCustomer.set(customerId, list);
  }
  return byCustomer;
}

function periodsIn({ terms, span }: CostSubject, nowMs: number): Span[] {
  const cycle = terms.at(-1)?.cycle;
  const endMs = Math.min(span.toMs, nowMs);
  const periods: Span[] = [];
  for (let toMs = endMs; cycle && toMs > span.fromMs && periods.length < PERIODS_MAX; ) {
    const period = periodAt(cycle, toMs - 1);
    periods.push({ fromMs: Math.max(period.fromMs, span.fromMs), toMs: Math.min(period.toMs, endMs) });
    toMs = period.fromMs;
  }
  return periods;
}
