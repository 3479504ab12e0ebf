import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Interval } from '../../schemas/value-sets.ts';

/** How long a period is. */
export interface PeriodLength {
  interval: Interval;
  intervalCount: number;
  /**
   * In place of the two above: only subscriptions of an earlier release have it, whose periods are no whole
   * number of days.
   */
  legacyIntervalMs?: number;
}

/**
 * The lattice on which periods begin and end: boundary n = anchor + n × intervalCount intervals. Months are
 * counted from the anchor each time and cut to the month's end, so that 31 Jan → 28 Feb → 31 Mar. It has
 * boundaries before its anchor too.
 */
export interface BillingCycle extends PeriodLength {
  anchorMs: number;
}

/**
 * A subscription's current period as it is recorded, and the lattice of those that follow. The period may be
 * of any length (a trial, a part of a month, one that was extended), but it ends on the lattice.
 */
export interface SubscriptionTerm {
  cycle: BillingCycle;
  period: Span;
}

/** The period of the lattice that contains this time, also before the anchor. */
export function periodAt(cycle: BillingCycle, atMs: number): Span {
  let n = estimate(cycle, atMs);
  while (boundary(cycle, n) > atMs) n -= 1;
  while (boundary(cycle, n + 1) <= atMs) n += 1;
  return { fromMs: boundary(cycle, n), toMs: boundary(cycle, n + 1) };
}

/**
 * The period of the term that contains this time: the recorded one, and those of the lattice after it. The
 * term does not know what was before the recorded period: there it returns the lattice, up to the recorded
 * start.
 */
export function termPeriodAt({ cycle, period }: SubscriptionTerm, atMs: number): Span {
  if (period.fromMs <= atMs && atMs < period.toMs) return period;
  const own = periodAt(cycle, atMs);
  return atMs < period.fromMs ? { ...own, toMs: Math.min(own.toMs, period.fromMs) } : own;
}

/** Whether time alone leads from the one term to the other, with the same periods from the later one on. */
export function isSameCourse(before: SubscriptionTerm, after: SubscriptionTerm): boolean {
  const names = ['anchorMs', 'interval', 'intervalCount', 'legacyIntervalMs'] as const;
  if (names.some((name) => before.cycle[name] !== after.cycle[name])) return false;
  const { fromMs, toMs } = termPeriodAt(before, after.period.fromMs);
  return fromMs === after.period.fromMs && toMs === after.period.toMs;
}

/**
 * The lattice of a first period, or of one that leaves its old lattice. It is counted from the period's start
 * where the period is one interval long. Any other is an exception, so the next ones are counted from its
 * end: what is imported from 28 Feb to 31 Mar continues to 30 Apr and 31 May.
 */
export function cycleOf({ fromMs, toMs }: Span, length: PeriodLength): BillingCycle {
  const anchorMs = later(length, fromMs, 1) === toMs ? fromMs : toMs;
  return { ...lengthOf(length), anchorMs };
}

/** The same lattice where the period ends on it, else a new one of the same length. */
export function cycleThrough(cycle: BillingCycle, period: Span): BillingCycle {
  return isBoundary(cycle, period.toMs) ? cycle : cycleOf(period, cycle);
}

/**
 * The lattice of another length for what follows a period of the old one, from its end on. The day of the
 * month is kept: a customer who is billed on the 31st, and on 28 Feb because there is none, is billed on
 * 31 May after it. So the anchor is an earlier time of the new lattice, with that day or the nearest to it.
 */
export function cycleAfter({ cycle, period }: SubscriptionTerm, length: PeriodLength): BillingCycle {
  const [months, before] = [monthsOf(length), monthsOf(cycle)];
  const day = dayOfMonth(cycle.anchorMs);
  const after = { ...lengthOf(length), anchorMs: period.toMs };
  if (months === undefined || before === undefined) return after;
  const passed = monthsBetween(cycle.anchorMs, period.toMs);
  for (let n = 0; n < 12 && dayOfMonth(after.anchorMs) < day; n += 1) {
    const anchorMs = addMonths(cycle.anchorMs, passed - n * months);
    // No timestamp of ours lies before 1970.
    if (anchorMs >= 0 && dayOfMonth(anchorMs) > dayOfMonth(after.anchorMs)) after.anchorMs = anchorMs;
  }
  return after;
}

export function isBoundary(cycle: BillingCycle, atMs: number): boolean {
  return periodAt(cycle, atMs).fromMs === atMs;
}

/** So many periods after a given time. */
export function later(length: PeriodLength, fromMs: number, count: number): number {
  const months = monthsOf(length);
  return months === undefined ? fromMs + count * msOf(length) : addMonths(fromMs, count * months);
}

/** The same day and time of a later month, UTC; its last day where it has no such day. */
export function addMonths(ms: number, months: number): number {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const midnight = Date.UTC(year, month, Math.min(at.getUTCDate(), lastDay));
  return midnight + (ms - Date.UTC(year, at.getUTCMonth(), at.getUTCDate()));
}

const DAY_MS = 86_400_000;

function boundary(cycle: BillingCycle, n: number): number {
  return later(cycle, cycle.anchorMs, n);
}

/** One off at most: a day that is cut to its month's end moves a boundary within that month. */
function estimate(cycle: BillingCycle, atMs: number): number {
  const months = monthsOf(cycle);
  return months === undefined
    ? Math.floor((atMs - cycle.anchorMs) / msOf(cycle))
    : Math.floor(monthsBetween(cycle.anchorMs, atMs) / months);
}

/** Undefined where it is not counted in months. */
function monthsOf({ interval, intervalCount, legacyIntervalMs }: PeriodLength): number | undefined {
  if (legacyIntervalMs !== undefined || interval === 'day' || interval === 'week') return undefined;
  return interval === 'year' ? 12 * intervalCount : intervalCount;
}

/** Where it is not counted in months. */
function msOf({ interval, intervalCount, legacyIntervalMs }: PeriodLength): number {
  return legacyIntervalMs ?? intervalCount * (interval === 'week' ? 7 : 1) * DAY_MS;
}

function lengthOf({ interval, intervalCount, legacyIntervalMs }: PeriodLength): PeriodLength {
  return { interval, intervalCount, ...(legacyIntervalMs === undefined ? {} : { legacyIntervalMs }) };
}

/** Of the calendar, whatever the days. */
function monthsBetween(fromMs: number, toMs: number): number {
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  return (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
}

function dayOfMonth(ms: number): number {
  return new Date(ms).getUTCDate();
}
