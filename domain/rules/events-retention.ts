import { calendarSpan } from '../../schemas/primitives/calendar.ts';

const DAY_MS = 86_400_000;

/** 50 years. ClickHouse keeps a part's expiry in 32 bits, which end in 2106: see infra/clickhouse. */
export const EVENTS_RETENTION_DAYS_MAX = 18_250;

/**
 * Stored events are kept by whole months (UTC): a month is deleted once its end is `days` old. Returns the
 * beginning of the oldest month that is kept; milliseconds since 1970.
 */
export function keptMonthsFromMs(nowMs: number, days: number): number {
  return calendarSpan('month', nowMs - days * DAY_MS).fromMs;
}
