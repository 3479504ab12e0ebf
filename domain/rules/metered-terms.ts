import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { RESETS, type Resets } from '../../schemas/value-sets.ts';
import { isSameCourse, type SubscriptionTerm, termPeriodAt } from './billing-period.ts';

/*
 * The history of one customer meter: by which periods its usage is counted and up to which limit it is
 * covered, and from when on. A term is recorded with each change, in the change's transaction, and is not
 * computed again from later facts. So usage is judged by what held when it occurred.
 *
 * Invariants: terms are in the order of their starts; each time is in exactly one period, so that no event is
 * in two.
 */

/** What holds for a meter from a given time on. */
export interface MeteredTerm extends MeteredFacts {
  startsMs: number;
  /** Of the period in which the term begins, which may have begun before it. */
  periodStartMs: number;
  /** From when on its subscription gives the periods, whatever came in between. */
  sinceMs: number;
}

/** What a customer's subscriptions and overrides set for a meter. */
export interface MeteredFacts {
  /** The subscription that gives the periods; undefined: calendar months, UTC. */
  source: MeteredSource | undefined;
  /** Of each metered feature that has a limit, ascending. */
  limits: readonly MeteredLimit[];
  /** A feature without a limit covers all usage. */
  isUnlimited: boolean;
}

export interface MeteredSource extends SubscriptionTerm {
  subscriptionId: string;
}

export interface MeteredLimit {
  /** Canonical decimal text. */
  amount: string;
  resets: Resets;
}

/** Without a meter: calendar months, and no limit. */
export const UNMETERED: MeteredFacts = { source: undefined, limits: [], isUnlimited: false };

/** Of several features on the meter the one with the largest limit; undefined where there is none. */
export function largestLimit({
  limits,
  isUnlimited,
}: Pick<MeteredFacts, 'limits' | 'isUnlimited'>): MeteredLimit | undefined {
  return isUnlimited ? undefined : limits.reduce<MeteredLimit | undefined>(larger, undefined);
}

/** The term that holds at a given time; undefined before the first. */
export function termAt<Term extends MeteredTerm>(terms: readonly Term[], atMs: number): Term | undefined {
  return terms.findLast(({ startsMs }) => startsMs <= atMs);
}

/** The term whose source gives the period of a given time. */
export function periodTermAt(terms: readonly MeteredTerm[], atMs: number): MeteredTerm | undefined {
  return terms.findLast(({ periodStartMs }) => periodStartMs <= atMs);
}

/** The period that contains a given time. */
export function meteredPeriod(terms: readonly MeteredTerm[], atMs: number): Span {
  const at = terms.findLastIndex(({ periodStartMs }) => periodStartMs <= atMs);
  const own = periodOf(terms[at]?.source, atMs);
  const fromMs = Math.max(own.fromMs, terms[at]?.periodStartMs ?? own.fromMs);
  const ends = terms.slice(at + 1).map(({ periodStartMs }) => periodStartMs);
  return { fromMs, toMs: Math.min(own.toMs, ...ends) };
}

/**
 * The term that facts begin after earlier ones; undefined when they change nothing. A period continues while
 * its subscription provides the periods, and a new one begins with another subscription. A subscription's own
 * period may be recorded again, but never with a start before the recorded one.
 */
export function termAfter(
  before: readonly MeteredTerm[],
  facts: MeteredFacts,
  startsMs: number,
): MeteredTerm | undefined {
  const last = before.at(-1);
  if (isSameFacts(last ?? UNMETERED, facts)) return undefined;
  return { ...facts, startsMs, ...begunBy(before, facts.source, startsMs) };
}

export function isSameTerm(a: MeteredTerm, b: MeteredTerm): boolean {
  const isSameStart = a.startsMs === b.startsMs && a.periodStartMs === b.periodStartMs;
  return isSameStart && a.sinceMs === b.sinceMs && isSameFacts(a, b);
}

function begunBy(
  before: readonly MeteredTerm[],
  source: MeteredSource | undefined,
  startsMs: number,
): Pick<MeteredTerm, 'periodStartMs' | 'sinceMs'> {
  const own = source?.subscriptionId;
  const known = before.findLastIndex((term) => term.source?.subscriptionId === own);
  const isOwn = (term: MeteredTerm) => term.source === undefined || term.source.subscriptionId === own;
  // Without a subscription in between it continues: a feature that is taken away and given back resets
  // nothing.
  const goesOn =
    own === undefined ? known === before.length - 1 : known >= 0 && before.slice(known).every(isOwn);
  if (!goesOn) {
    const beginsMs = Math.max(startsMs, source?.period.fromMs ?? startsMs);
    return { periodStartMs: beginsMs, sinceMs: beginsMs };
  }
  const open = meteredPeriod(before.slice(0, known + 1), startsMs).fromMs;
  // mutant: period-begun-earlier
  const periodStartMs = Math.max(open, source?.period.fromMs ?? open);
  return { periodStartMs, sinceMs: before[known]?.sinceMs ?? periodStartMs };
}

function isSameFacts(a: MeteredFacts, b: MeteredFacts): boolean {
  if (a.isUnlimited !== b.isUnlimited || a.limits.length !== b.limits.length) return false;
  if (a.limits.some((limit, at) => !isSameLimit(limit, b.limits[at]))) return false;
  if (!a.source || !b.source) return a.source === b.source;
  return a.source.subscriptionId === b.source.subscriptionId && isSameCourse(a.source, b.source);
}

function periodOf(source: MeteredSource | undefined, atMs: number): Span {
  return source ? termPeriodAt(source, atMs) : calendarSpan('month', atMs);
}

function isSameLimit(a: MeteredLimit, b: MeteredLimit | undefined): boolean {
  return a.amount === b?.amount && a.resets === b.resets;
}

/** Of equal ones that which lasts longer. */
function larger(a: MeteredLimit | undefined, b: MeteredLimit): MeteredLimit {
  if (!a) return b;
  const difference = decimalUnits(a.amount) - decimalUnits(b.amount);
  if (difference !== 0n) return difference > 0n ? a : b;
  return RESETS.indexOf(a.resets) >= RESETS.indexOf(b.resets) ? a : b;
}
