import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
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
}

/** What a customer's subscriptions and overrides set for a meter. */
export interface MeteredFacts {
  /** The subscription that gives the periods; undefined: calendar months, UTC. */
  source: MeteredSource | undefined;
  /** Of each metered feature that has a limit: canonical decimal texts, ascending. */
  limits: readonly string[];
  /** A feature without a limit covers all usage. */
  isUnlimited: boolean;
}

export interface MeteredSource extends SubscriptionTerm {
  subscriptionId: string;
}

/** How much usage of a period is covered: a decimal text, or null for all of it. Undefined: no limit. */
export type Allowance = string | null | undefined;

/** Without a meter: calendar months, and no limit. */
export const UNMETERED: MeteredFacts = { source: undefined, limits: [], isUnlimited: false };

/** Of several features on the meter the largest limit counts: up to there something is still allowed. */
export function allowanceOf({
  limits,
  isUnlimited,
}: Pick<MeteredFacts, 'limits' | 'isUnlimited'>): Allowance {
  if (isUnlimited) return null;
  return limits.reduce<string | undefined>(larger, undefined);
}

/** The term that holds at a given time; undefined before the first. */
export function termAt<Term extends MeteredTerm>(terms: readonly Term[], atMs: number): Term | undefined {
  return terms.findLast(({ startsMs }) => startsMs <= atMs);
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
  return { ...facts, startsMs, periodStartMs: periodStart(before, facts.source, startsMs) };
}

export function isSameTerm(a: MeteredTerm, b: MeteredTerm): boolean {
  return a.startsMs === b.startsMs && a.periodStartMs === b.periodStartMs && isSameFacts(a, b);
}

function periodStart(
  before: readonly MeteredTerm[],
  source: MeteredSource | undefined,
  startsMs: number,
): number {
  const own = source?.subscriptionId;
  const known = before.findLastIndex((term) => term.source?.subscriptionId === own);
  const isOwn = (term: MeteredTerm) => term.source === undefined || term.source.subscriptionId === own;
  // Without a subscription in between it continues: a feature that is taken away and given back resets
  // nothing.
  const goesOn =
    own === undefined ? known === before.length - 1 : known >= 0 && before.slice(known).every(isOwn);
  if (!goesOn) return Math.max(startsMs, source?.period.fromMs ?? startsMs);
  const open = meteredPeriod(before.slice(0, known + 1), startsMs).fromMs;
  // mutant: period-begun-earlier
  return Math.max(open, source?.period.fromMs ?? open);
}

function isSameFacts(a: MeteredFacts, b: MeteredFacts): boolean {
  if (a.isUnlimited !== b.isUnlimited || a.limits.length !== b.limits.length) return false;
  if (a.limits.some((limit, at) => limit !== b.limits[at])) return false;
  if (!a.source || !b.source) return a.source === b.source;
  return a.source.subscriptionId === b.source.subscriptionId && isSameCourse(a.source, b.source);
}

function periodOf(source: MeteredSource | undefined, atMs: number): Span {
  return source ? termPeriodAt(source, atMs) : calendarSpan('month', atMs);
}

function larger(a: string | undefined, b: string): string {
  return a !== undefined && decimalUnits(a) >= decimalUnits(b) ? a : b;
}
