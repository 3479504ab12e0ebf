/**
 * The columns of the hourly rollup, and what they are made of: as its view has it, grouped by the first four.
 */
export const HOURLY_COLUMNS =
  'environment, customer_id, meter_key, hour, total, events, largest, latest, uniques';
export const HOURLY_OF_EVENTS = `environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin,
  sum(value), count(), max(value), argMaxState(value, (occurred_at, created_at, id)),
  uniqExactStateIf(unique_value, unique_value != '')`;
export const HOURLY_GROUP = 'environment, customer_id, meter_key, begin';
