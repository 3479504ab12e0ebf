/** Half-open: from ≤ t < to, milliseconds since 1970. */
export interface Span {
  fromMs: number;
  toMs: number;
}

/** Calendar windows in UTC; each is the current one. A week begins on Monday (ISO 8601). */
export const CALENDAR_WINDOWS = ['day', 'week', 'month'] as const;
export type CalendarWindow = (typeof CALENDAR_WINDOWS)[number];

/** The window that contains this time. */
export function calendarSpan(window: CalendarWindow, atMs: number): Span {
  const at = new Date(atMs);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  if (window === 'month') return { fromMs: Date.UTC(year, month, 1), toMs: Date.UTC(year, month + 1, 1) };
  const first = window === 'day' ? day : day - ((at.getUTCDay() + 6) % 7);
  const days = window === 'day' ? 1 : 7;
  return { fromMs: Date.UTC(year, month, first), toMs: Date.UTC(year, month, first + days) };
}

export const HOUR_MS = 3_600_000;

/** A span as whole hours and the rest at both ends; each may be empty (from = to). */
export interface SplitSpan {
  hours: Span;
  head: Span;
  tail: Span;
}

/** Head, hours and tail cover the span exactly, without overlap. Without a whole hour, all of it is head. */
export function splitByHours({ fromMs, toMs }: Span): SplitSpan {
  const firstMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
  const lastMs = Math.floor(toMs / HOUR_MS) * HOUR_MS;
  if (firstMs >= lastMs) {
    const noHours = { fromMs: lastMs, toMs: lastMs };
    return { head: { fromMs, toMs }, hours: noHours, tail: { fromMs: toMs, toMs } };
  }
  return {
    head: { fromMs, toMs: firstMs },
    hours: { fromMs: firstMs, toMs: lastMs },
    tail: { fromMs: lastMs, toMs },
  };
}
