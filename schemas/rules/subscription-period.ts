import type { Span } from './calendar.ts';

/**
 * How the periods of a subscription follow each other: period n lies between anchor + n × interval and
 * anchor + (n + 1) × interval. Of the two intervals exactly one is set. Months are counted from the anchor
 * each time, so that 31 Jan → 28 Feb → 31 Mar.
 */
export interface BillingCycle {
  anchorMs: number;
  intervalMonths: number | null;
  intervalMs: number | null;
}

/** The period in which this moment lies, also before the anchor. */
export function periodAt(cycle: BillingCycle, atMs: number): Span {
  let n = estimate(cycle, atMs);
  while (boundary(cycle, n) > atMs) n -= 1;
  while (boundary(cycle, n + 1) <= atMs) n += 1;
  return { fromMs: boundary(cycle, n), toMs: boundary(cycle, n + 1) };
}

/** A cycle that begins with this period: by months where it is a whole number of them, else by its length. */
export function cycleOf({ fromMs, toMs }: Span): BillingCycle {
  const months = monthsBetween(fromMs, toMs);
  const isWhole = months > 0 && addMonths(fromMs, months) === toMs;
  return {
    anchorMs: fromMs,
    intervalMonths: isWhole ? months : null,
    intervalMs: isWhole ? null : toMs - fromMs,
  };
}

/**
 * The same cycle where this is one of its periods, else a new one: 28 Feb – 31 Mar keeps its anchor of 31
 * Jan.
 */
export function cycleThrough(cycle: BillingCycle, period: Span): BillingCycle {
  const { fromMs, toMs } = periodAt(cycle, period.fromMs);
  return fromMs === period.fromMs && toMs === period.toMs ? cycle : cycleOf(period);
}

/** The same day and time of a later month, UTC; its last day where it has no such day. */
export function addMonths(ms: number, months: number): number {
  const at = new Date(ms);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const midnight = Date.UTC(year, month, Math.min(at.getUTCDate(), lastDay));
  return midnight + (ms - Date.UTC(year, at.getUTCMonth(), at.getUTCDate()));
}

function boundary({ anchorMs, intervalMonths, intervalMs }: BillingCycle, n: number): number {
  return intervalMonths === null
    ? anchorMs + n * (intervalMs ?? Number.NaN)
    : addMonths(anchorMs, n * intervalMonths);
}

/** One off at most: a day that is cut to its month's end moves a boundary within that month. */
function estimate({ anchorMs, intervalMonths, intervalMs }: BillingCycle, atMs: number): number {
  return intervalMonths === null
    ? Math.floor((atMs - anchorMs) / (intervalMs ?? Number.NaN))
    : Math.floor(monthsBetween(anchorMs, atMs) / intervalMonths);
}

/** Of the calendar, whatever the days. */
function monthsBetween(fromMs: number, toMs: number): number {
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  return (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth();
}
