import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import type { Granularity } from '../../schemas/resources/meter-usage.ts';
import { localMs, offsetIndex, type ZoneOffset } from './zone-offsets.ts';

/**
 * The starts of the hours, days, weeks or months of local time in a span, ascending; the first one is the
 * span's own start. Undefined: there are more than `max`.
 *
 * A day begins when the local clock first shows its date: without midnight (clocks that go forward then) at
 * the change, and with two of them at the first. Of two local hours with one name (clocks that go back an
 * hour) each is an hour of its own.
 */
export function bucketStarts(
  { fromMs, toMs }: Span,
  granularity: Granularity,
  { offsets, max }: { offsets: readonly ZoneOffset[]; max: number },
): number[] | undefined {
  const starts = [fromMs];
  const next = granularity === 'hour' ? nextHour : nextDate(granularity);
  for (let atMs = next(offsets, fromMs); atMs < toMs; atMs = next(offsets, atMs)) {
    if (starts.length === max) return undefined;
    starts.push(atMs);
  }
  return starts;
}

type Next = (offsets: readonly ZoneOffset[], atMs: number) => number;

/** The next full hour of the local clock, or the time at which it is put forward over one. */
const nextHour: Next = (offsets, atMs) => {
  const at = offsetIndex(offsets, atMs);
  const [own, next] = [offsets[at]?.offsetMs ?? 0, offsets[at + 1]];
  const fullMs = nextFull(atMs + own) - own;
  if (!next || fullMs < next.fromMs) return fullMs;
  const [lastMs, firstMs] = [next.fromMs - 1 + own, next.fromMs + next.offsetMs];
  const isNewHour = firstMs % HOUR_MS === 0 || floorHour(firstMs) > floorHour(lastMs);
  return isNewHour ? next.fromMs : nextHour(offsets, next.fromMs);
};

function nextFull(ms: number): number {
  return floorHour(ms) + HOUR_MS;
}

function floorHour(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}

/** The first time after this one at which the local clock shows the next date, or a later time. */
function nextDate(granularity: Exclude<Granularity, 'hour'>): Next {
  return (offsets, atMs) => {
    const begins = startAfter(granularity, localMs(offsets, atMs));
    for (let at = offsetIndex(offsets, atMs); ; at += 1) {
      const { fromMs = 0, offsetMs = 0 } = offsets[at] ?? {};
      const firstMs = Math.max(fromMs, begins - offsetMs, atMs + 1);
      if (firstMs < (offsets[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY)) return firstMs;
    }
  };
}

/** Of the day, week (from Monday) or month that follows a local time, as a local time. */
function startAfter(granularity: Exclude<Granularity, 'hour'>, local: number): number {
  const date = new Date(local);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (granularity === 'month') return Date.UTC(year, month + 1, 1);
  if (granularity === 'day') return Date.UTC(year, month, day + 1);
  return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7) + 7);
}
