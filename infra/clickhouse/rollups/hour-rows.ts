import type { RowBlock } from '../../ports/warehouse.ts';
import { nativeBlock, nativeColumn } from '../native/native-block.ts';
import {
  arrayOf,
  DATE_TIME,
  DATE_TIME_MS,
  DECIMAL,
  LOW_CARDINALITY_STRING,
  type NativeType,
  STRING,
  tupleOf,
  UINT64,
} from '../native/native-types.ts';
import type { EventRows } from './event-rows.ts';
import { type HourGroup, hourGroups } from './hour-groups.ts';
import {
  ADDED,
  ARRIVAL,
  addEvent,
  createTally,
  type EventOrder,
  orderOf,
  TAKEN_AWAY,
  type Tally,
  textOf,
  unitsOf,
} from './tally.ts';

/** Of `usage_hourly`: what it is grouped by, and what its states are made of. */
export const HOUR_COLUMNS = [
  ...['environment', 'customer_id', 'meter_key', 'hour'],
  ...['total', 'events', 'largest', 'latest_value', 'latest_order', 'unique_values'],
];

/** Events after which the caller has a turn: a few milliseconds of work. */
const EVENTS_A_TURN = 8_000;

/**
 * Whether a row shows that its meter is none of `latest`: since then each event of such a meter has its order
 * of arrival. What came last is left out then, since its id alone would take 17 of 50 bytes.
 */
function hasNoLatest({ createdAt, uniqueValues, bytes }: EventRows, row: number, orderedSinceMs: number) {
  const isOrdered = uniqueValues.lengths[row] !== 0 && bytes[uniqueValues.starts[row] as number] === ARRIVAL;
  return !isOrdered && (createdAt[row] as number) >= orderedSinceMs;
}

/**
 * Rows of `usage_hourly` for the events of a block; ClickHouse adds up the rows of one hour. It yields after
 * some thousand events. `orderedSinceMs`: see infra/clickhouse/columns/made-events.ts. Rows of voided events
 * take their sums away, and have no other states: nothing reads these.
 */
export function* hourRows(
  events: EventRows,
  orderedSinceMs = Number.POSITIVE_INFINITY,
  areVoided = false,
): Generator<void, RowBlock> {
  const hours: Array<{ group: HourGroup; tally: Tally }> = [];
  let turnAt = EVENTS_A_TURN;
  for (const group of hourGroups(events)) {
    const tally = createTally(events, group.from);
    for (let row = group.from + 1; row < group.to; row++) addEvent(tally, events, row);
    hours.push({ group, tally });
    if (group.to < turnAt) continue;
    turnAt = group.to + EVENTS_A_TURN;
    yield;
  }
  function column<T>(name: string, type: NativeType<T>, of: (tally: Tally, group: HourGroup) => T) {
    return nativeColumn(
      name,
      type,
      hours.map(({ tally, group }) => of(tally, group)),
    );
  }
  const isLeftOut = (row: number) => areVoided || hasNoLatest(events, row, orderedSinceMs);
  const sums = areVoided ? TAKEN_AWAY : ADDED;
  const { environments, customers, meters } = events;
  return nativeBlock([
    column('environment', LOW_CARDINALITY_STRING, (_, { from }) => wordOf(environments, from)),
    column('customer_id', STRING, (_, { from }) => textOf(events, customers, from)),
    column('meter_key', LOW_CARDINALITY_STRING, (_, { from }) => wordOf(meters, from)),
    column('hour', DATE_TIME, (_, { hour }) => hour),
    column('total', DECIMAL, sums.total),
    column('events', UINT64, sums.events),
    column('largest', DECIMAL, ({ largest }) => unitsOf(events, largest)),
    column('latest_value', DECIMAL, ({ latest }) => (isLeftOut(latest) ? 0n : unitsOf(events, latest))),
    column('latest_order', ORDER, ({ latest }) => (isLeftOut(latest) ? NO_ORDER : orderOf(events, latest))),
    column('unique_values', arrayOf(STRING), ({ uniques }) => (uniques && !areVoided ? [...uniques] : NONE)),
  ]);
}

const NONE: string[] = [];
const NO_ORDER: EventOrder = [0, 0, ''];
const ORDER = tupleOf<EventOrder>(DATE_TIME_MS, DATE_TIME_MS, STRING);

function wordOf({ texts, indexes }: EventRows['meters'], row: number): string {
  return texts[indexes[row] as number] ?? '';
}
