/**
 * The columns of the hourly rollup and their expressions, as in its view, grouped by the first four.
 */
export const HOURLY_COLUMNS =
  'environment, customer_id, meter_key, hour, total, events, largest, latest, uniques';
/**
 * The order that determines the latest event: see `arrivalText` in event-row.ts; events without it have ids.
 */
export const ORDER_OF_ARRIVAL = '(occurred_at, created_at, concat(unique_value, id))';
export const LATEST_OF_EVENTS = `argMaxState(value, ${ORDER_OF_ARRIVAL})`;
/** The texts that a `unique` meter counts; '=' begins each of them. */
export const UNIQUES_OF_EVENTS = "uniqExactStateIf(unique_value, startsWith(unique_value, '='))";
export const HOURLY_OF_EVENTS = `environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin,
  sum(value), count(), max(value), ${LATEST_OF_EVENTS}, ${UNIQUES_OF_EVENTS}`;
export const HOURLY_GROUP = 'environment, customer_id, meter_key, begin';
