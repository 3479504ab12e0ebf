import type { Span } from '../../schemas/primitives/calendar.ts';
import type { GrantExpiry, GrantRhythm } from '../../schemas/value-sets.ts';
import { periodAt, type SubscriptionTerm, termPeriodAt } from './billing-period.ts';

/** Credits that a plan grants again and again. Amounts are canonical decimal text. */
export interface RecurringGrant {
  key: string;
  amount: string;
  every: GrantRhythm;
  priority: number;
  expires: GrantExpiry;
}

/** What a version of a plan grants from this time on. */
export interface RecurringGrantSet {
  planId: string;
  version: number;
  startsMs: number;
  grants: readonly RecurringGrant[];
}

/** How long a subscription has one plan and one series of periods. */
export interface GrantingStretch {
  term: SubscriptionTerm;
  planId: string;
  /** Where it is pinned. */
  planVersion: number | null;
  /** Both are included. */
  firstMs: number;
  lastMs: number;
  /** Whether a period that began before it is granted as well. */
  includesBegun: boolean;
}

/** A grant of one period. */
export interface DueGrant {
  grant: RecurringGrant;
  period: Span;
}

/** Of one stretch and rhythm. After an outage those that are longer ago are not made up for. */
const PERIODS_MAX = 400;

/** All grants of a stretch, in the order of their periods: each as the plan was when the period began. */
export function dueGrants(stretch: GrantingStretch, sets: readonly RecurringGrantSet[]): DueGrant[] {
  const { firstMs, includesBegun } = stretch;
  const due = (['period', 'month'] as const).flatMap((every) =>
    periodsOf(stretch, every).flatMap((period) => {
      if (period.fromMs < firstMs && !includesBegun) return [];
      const grants = setAt(stretch, sets, Math.max(period.fromMs, firstMs));
      return grants.filter((one) => one.every === every).map((grant): DueGrant => ({ grant, period }));
    }),
  );
  return due.sort((a, b) => a.period.fromMs - b.period.fromMs);
}

/** The grants of the stretch's plan at this time: a change of the plan counts from its own time on. */
export function setAt(
  { planId, planVersion }: Pick<GrantingStretch, 'planId' | 'planVersion'>,
  sets: readonly RecurringGrantSet[],
  atMs: number,
): readonly RecurringGrant[] {
  const own = sets.filter((one) => {
    return one.planId === planId && one.startsMs <= atMs && (planVersion ?? one.version) === one.version;
  });
  return own.reduce<RecurringGrantSet | undefined>(later, undefined)?.grants ?? [];
}

function later(a: RecurringGrantSet | undefined, b: RecurringGrantSet): RecurringGrantSet {
  if (!a || a.startsMs < b.startsMs) return b;
  return a.startsMs > b.startsMs || a.version > b.version ? a : b;
}

/** The period of a grant that contains this time. */
export function grantPeriodAt(term: SubscriptionTerm, every: GrantRhythm, atMs: number): Span {
  if (every === 'period') return termPeriodAt(term, atMs);
  return periodAt({ anchorMs: term.cycle.anchorMs, interval: 'month', intervalCount: 1 }, atMs);
}

/** Those of the stretch's times, in order. */
function periodsOf({ term, firstMs, lastMs }: GrantingStretch, every: GrantRhythm): Span[] {
  const periods: Span[] = [];
  for (let atMs = lastMs; atMs >= firstMs && periods.length < PERIODS_MAX; ) {
    const period = grantPeriodAt(term, every, atMs);
    periods.push(period);
    atMs = period.fromMs - 1;
  }
  return periods.reverse();
}
