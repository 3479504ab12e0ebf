/** Periods by walking from day to day, for tests: no arithmetic of months. */
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { BillingCycle } from './billing-period.ts';

const DAY_MS = 86_400_000;

/** The period that contains a given time: walks from boundary to boundary, starting at the anchor. */
export function walkedPeriod(of: BillingCycle, atMs: number): Span {
  const isAhead = atMs >= of.anchorMs;
  const walk = walkedBoundaries(of, isAhead ? 1 : -1);
  let nearMs = of.anchorMs;
  for (const farMs of walk) {
    const isThere = isAhead ? farMs > atMs : farMs <= atMs;
    if (isThere) return isAhead ? { fromMs: nearMs, toMs: farMs } : { fromMs: farMs, toMs: nearMs };
    nearMs = farMs;
  }
  throw new Error('the walk has no end');
}

/** Boundaries after the anchor, or before it, by looking at one day after the other. */
export function* walkedBoundaries(of: BillingCycle, step: 1 | -1): Generator<number, never> {
  const perUnit = { day: 1, week: 7, month: 1, year: 12 }[of.interval] * of.intervalCount;
  const isByDays = of.interval === 'day' || of.interval === 'week';
  const anchorDay = new Date(of.anchorMs).getUTCDate();
  let [units, atMs] = [0, of.anchorMs];
  let isTaken = true;
  for (;;) {
    const before = new Date(atMs);
    atMs += step * DAY_MS;
    const [at, tomorrow] = [new Date(atMs), new Date(atMs + DAY_MS)];
    const isOtherMonth = at.getUTCMonth() !== before.getUTCMonth();
    if (isByDays || isOtherMonth) {
      units += 1;
      isTaken = false;
    }
    const isLastDay = tomorrow.getUTCMonth() !== at.getUTCMonth();
    const isItsDay = isByDays || at.getUTCDate() === anchorDay || (isLastDay && at.getUTCDate() < anchorDay);
    if (isTaken || !isItsDay || units % perUnit !== 0) continue;
    isTaken = true;
    yield atMs;
  }
}
