/** Spans of time that a reader chooses. All of them are in UTC, as days and months of usage are. */

export interface Span {
  /** RFC 3339; `to` is exclusive. */
  from: string;
  to: string;
}

export const DAY_MS = 86_400_000;

/** That many days up to the end of today. */
export function lastDays(days: number, nowMs: number): Span {
  const end = Math.floor(nowMs / DAY_MS) * DAY_MS + DAY_MS;
  return spanOf(end - days * DAY_MS, end);
}

/** The calendar month that is so many months before this one. */
export function monthBefore(months: number, nowMs: number): Span {
  const now = new Date(nowMs);
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return spanOf(Date.UTC(year, month - months, 1), Date.UTC(year, month - months + 1, 1));
}

/** From the first day through the last one, as date fields have them; undefined where they are none. */
export function betweenDays(first: string, last: string): Span | undefined {
  const [from, to] = [Date.parse(`${first}T00:00:00Z`), Date.parse(`${last}T00:00:00Z`)];
  return from <= to ? spanOf(from, to + DAY_MS) : undefined;
}

/** The beginning of each day of a span, in milliseconds. */
export function daysOf({ from, to }: Span): number[] {
  const first = Math.floor(Date.parse(from) / DAY_MS) * DAY_MS;
  const count = Math.max(0, Math.ceil((Date.parse(to) - first) / DAY_MS));
  return Array.from({ length: count }, (_, at) => first + at * DAY_MS);
}

function spanOf(fromMs: number, toMs: number): Span {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
