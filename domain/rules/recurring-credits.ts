import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import type { GrantExpiry, GrantRhythm } from '../../schemas/value-sets.ts';
import { periodAt, type SubscriptionTerm, termPeriodAt } from './billing-period.ts';
import { creditUnits, smaller } from './credit-units.ts';

/** Credits that a plan grants again and again. Amounts are canonical decimal text. */
export interface RecurringGrant {
  key: string;
  amount: string;
  every: GrantRhythm;
  priority: number;
  expires: GrantExpiry;
  rollover?: Rollover;
}

/** What goes on to the next period. Canonical decimal texts. */
export interface Rollover {
  /** Of 100. */
  percent: string;
  /** In all. */
  max?: string | undefined;
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

/**
 * All grants of a stretch, each as the plan was when its period began: in the order of time, then of
 * priority, since the first one pays what is unpaid.
 */
export function dueGrants(stretch: GrantingStretch, sets: readonly RecurringGrantSet[]): DueGrant[] {
  const { firstMs, includesBegun } = stretch;
  const due = (['period', 'month'] as const).flatMap((every) =>
    periodsOf(stretch, every).flatMap((period) => {
      if (period.fromMs < firstMs && !includesBegun) return [];
      const grants = setAt(stretch, sets, Math.max(period.fromMs, firstMs));
      return grants.filter((one) => one.every === every).map((grant): DueGrant => ({ grant, period }));
    }),
  );
  const atMs = ({ period }: DueGrant) => Math.max(period.fromMs, firstMs);
  return due.sort((a, b) => atMs(a) - atMs(b) || a.grant.priority - b.grant.priority);
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

/** What a subscription was granted under one key in one period. Amounts in units of 10^-24. */
export interface GrantedSoFar {
  /** Without what was rolled over. */
  granted: bigint;
  /** Of the next grant; 1: there was none. */
  nextPart: number;
  /** What had expired unused when the period began. */
  lapsed: bigint;
}

export interface GrantPart {
  /** 0: rolled over; 1: the grant; more: added to it. */
  part: number;
  units: bigint;
}

/** What is still to be granted in a period. Another plan adds what is missing to its own amount. */
export function partsDue(
  { amount, rollover }: RecurringGrant,
  { granted, nextPart, lapsed }: GrantedSoFar,
  { isOtherPlan }: { isOtherPlan: boolean },
): GrantPart[] {
  // mutant: plan-grants-a-period-again
  const isFirst = nextPart === 1;
  if (!isFirst && !isOtherPlan) return [];
  const over = isFirst && rollover ? rolledOver(rollover, lapsed) : 0n;
  const parts = [
    { part: 0, units: over },
    { part: nextPart, units: creditUnits(amount) - granted },
  ];
  return parts.filter(({ units }) => units > 0n);
}

/** In units of 10^-24, rounded down: of all that is left at the end of a period. */
function rolledOver({ percent, max }: Rollover, left: bigint): bigint {
  const share = (left * decimalUnits(percent)) / decimalUnits('100');
  // mutant: rollover-without-its-maximum
  return max === undefined ? share : smaller(share, creditUnits(max));
}
