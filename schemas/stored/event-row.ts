/**
 * One stored usage event as the aggregator's warehouse reads it: a line of JSONCompactEachRow. The ingest
 * tier writes value, unique value and properties of it; the rest is in the event's frame (row-lines.ts). The
 * frame version pins this order; a new column needs a new frame version.
 */
export const EVENT_COLUMNS = [
  'environment', //     'ws_…:live'
  'customer_id', //     'cus_…'
  'meter_key', //       the meter's key
  'id', //              'use_…'
  'fingerprint', //     UInt64 as decimal text
  'value', //           Decimal(38, 12), a bare number: ClickHouse keeps every digit
  'unique_value', //    '=' + the counted property of a `unique` meter; of a `latest` meter see `arrivalText`
  'properties', //      Map(String, String), see `tagProperty`
  'occurred_at', //     DateTime64(3) as integer milliseconds
  'created_at', //      DateTime64(3) as integer milliseconds
] as const;

const ARRIVAL_DIGITS = 6;

/**
 * Orders the events of a `latest` meter that occurred and were created in one millisecond: the number of
 * events created in it before. When a client sends gauges in one batch without times, the last one counts.
 */
export function arrivalText(arrival: number): string {
  return `#${String(Math.min(arrival, ARRIVALS_MAX)).padStart(ARRIVAL_DIGITS, '0')}`;
}

/** More than any machine creates in a millisecond. */
const ARRIVALS_MAX = 10 ** ARRIVAL_DIGITS - 1;

/**
 * The warehouse stores properties as text. A NUL and a letter in front distinguish a number or boolean from
 * the same word in text: no text of a client can contain a NUL, so the tag is unambiguous.
 */
export const NUMBER_TAG = '\u0000n';
export const BOOLEAN_TAG = '\u0000b';
export const TAG_LENGTH = 2;

/** A stored property text back as the JSON text that the client sent (numbers normalised). */
export function propertyJson(stored: string): string {
  return stored.charCodeAt(0) === 0 ? stored.slice(TAG_LENGTH) : JSON.stringify(stored);
}

/** What `fingerprint`, `unique` and breakdowns group by: the text without its tag. */
export function propertyLabel(stored: string): string {
  return stored.charCodeAt(0) === 0 ? stored.slice(TAG_LENGTH) : stored;
}
