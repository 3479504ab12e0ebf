/** A number or state that an hour's events make. */
export interface HourlyState {
  column: string;
  /** Over rows of `events`, as one group of them. */
  ofEvents: string;
  /** Over rows of `usage_hourly`: one value of all of them. */
  merged: string;
}

/**
 * The order that determines the latest event: see `arrivalText` in event-row.ts; events without it have ids.
 */
// mutant: latest-by-id
export const ORDER_OF_ARRIVAL = '(occurred_at, created_at, concat(unique_value, id))';

/** What is kept of an hour. A new one needs a migration, and code in infra/clickhouse/rollups. */
export const HOURLY_STATES = {
  total: { column: 'total', ofEvents: 'sum(value)', merged: 'sum(total)' },
  events: { column: 'events', ofEvents: 'count()', merged: 'sum(events)' },
  largest: { column: 'largest', ofEvents: 'max(value)', merged: 'max(largest)' },
  latest: {
    column: 'latest',
    ofEvents: `argMaxState(value, ${ORDER_OF_ARRIVAL})`,
    merged: 'argMaxMerge(latest)',
  },
  /** The texts that a `unique` meter counts; '=' begins each of them. */
  uniques: {
    column: 'uniques',
    ofEvents: "uniqExactStateIf(unique_value, startsWith(unique_value, '='))",
    merged: 'uniqExactMerge(uniques)',
  },
} satisfies Record<string, HourlyState>;

const STATES: readonly HourlyState[] = Object.values(HOURLY_STATES);

/** The columns of the hourly rollup, grouped by the first four. */
export const HOURLY_COLUMNS = [
  ...['environment', 'customer_id', 'meter_key', 'hour'],
  ...STATES.map(({ column }) => column),
].join(', ');
export const HOURLY_OF_EVENTS = [
  'environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin',
  ...STATES.map(({ ofEvents }) => ofEvents),
].join(', ');

/** Sums of voided events, by what adds them; of UInt64 they begin again at 0 behind their largest number. */
export function takenAway(sum: string): string {
  return sum === 'count()' ? 'toUInt64(-toInt64(count()))' : `-${sum}`;
}

/**
 * The same with `change` and `ofChange`, by which rows of `change_events` or `voided_events` are grouped as
 * well.
 */
export function hourlyOfChange(areVoided: boolean): string {
  const { total, events, ...others } = HOURLY_STATES;
  const sums = [total, events].map(({ ofEvents }) => (areVoided ? takenAway(ofEvents) : ofEvents));
  return [
    'environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin',
    ...sums,
    ...Object.values(others).map(({ ofEvents }) => ofEvents),
    changeColumns(areVoided),
  ].join(', ');
}

/** The numbers of rows of `change_events` or `voided_events`. */
export function changeColumns(areVoided: boolean): string {
  return `change, ${areVoided ? 'of_change' : 'toUInt64(0)'} AS ofChange`;
}

export const HOURLY_GROUP = 'environment, customer_id, meter_key, begin';
