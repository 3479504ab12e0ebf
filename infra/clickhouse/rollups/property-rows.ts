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
  UINT8,
  UINT64,
} from '../native/native-types.ts';
import type { EventRows } from './event-rows.ts';
import { type HourGroup, hourGroups } from './hour-groups.ts';
import {
  ADDED,
  addEvent,
  createTally,
  type EventOrder,
  orderOf,
  TAKEN_AWAY,
  type Tally,
  textOf,
  unitsOf,
} from './tally.ts';

/** Of `usage_by_property`: its key, and what its states are made of. */
export const PROPERTY_ROW_COLUMNS = [
  ...['environment', 'meter_key', 'property', 'customer_id', 'hour', 'value', 'total', 'events', 'largest'],
  ...['unordered', 'latest_values', 'latest_orders', 'unique_values'],
];

/** A property of a meter in one month; of the name '' all events of the meter. */
export interface PropertyMonth {
  environment: string;
  meterKey: string;
  property: string;
  /** Its first day, `YYYY-MM-DD`. */
  month: string;
}

/** What a block has of one, whether or not it is open. */
export interface PropertyUse extends PropertyMonth {
  events: number;
  rows: number;
  /** Different values; of the name '' different properties. */
  values: { readonly size: number };
}

export interface PropertyRows {
  block: RowBlock;
  uses: ReadonlyMap<string, PropertyUse>;
}

/** Of {@link PropertyRows.uses}, and of those that are closed. */
export function propertyMonthText({ environment, meterKey, property, month }: PropertyMonth): string {
  return [environment, meterKey, month, property].join('\0');
}

interface UseSoFar extends PropertyUse {
  values: Set<string>;
}

interface Row {
  group: HourGroup;
  property: string;
  value: string;
  tally: Tally;
}

const EVENTS_A_TURN = 4_000;
/** Properties of an hour of a customer that are looked at: more than the guard leaves open. */
const NAMES_MAX = 1_000;

/**
 * Rows of `usage_by_property` for the events of a block, but for what is closed. It yields after some
 * thousand events. Rows of voided events take their sums away, as in hour-rows.ts.
 */
export function* propertyRows(
  events: EventRows,
  closed: ReadonlySet<string>,
  areVoided = false,
): Generator<void, PropertyRows> {
  const uses = new Map<string, UseSoFar>();
  const rows: Row[] = [];
  const names = createNames(events);
  let turnAt = EVENTS_A_TURN;
  for (const group of hourGroups(events)) {
    addUses(uses, rows, { events, group, found: entriesOf(events, group, names), closed });
    if (group.to < turnAt) continue;
    turnAt = group.to + EVENTS_A_TURN;
    yield;
  }
  return { block: blockOf(events, rows, areVoided), uses };
}

/** By property the values of an hour; '' has all its events. */
type Entries = Map<string, { lastRow: number; values: Map<string, Tally> }>;

function entriesOf(events: EventRows, { from, to }: HourGroup, names: Names): Entries {
  const { propertyEnds } = events;
  const whole = createTally(events, from);
  const entries: Entries = new Map([['', { lastRow: to, values: new Map([['', whole]]) }]]);
  let property = from === 0 ? 0 : (propertyEnds[from - 1] as number);
  for (let row = from; row < to; row++) {
    if (row > from) addEvent(whole, events, row);
    for (const end = propertyEnds[row] as number; property < end; property++) {
      const name = names.of(property);
      const entry = entries.get(name) ?? { lastRow: -1, values: new Map<string, Tally>() };
      if (entry.lastRow < 0) {
        // More than a meter may have: it is closed, and what else there is would fill the memory.
        if (entries.size > NAMES_MAX) continue;
        entries.set(name, entry);
      }
      // A name that is there twice has its first value, as ClickHouse reads a map.
      if (entry.lastRow >= row) continue;
      entry.lastRow = row;
      const value = valueText(events, property);
      if (value === '') continue;
      const tally = entry.values.get(value);
      if (tally) addEvent(tally, events, row);
      else entry.values.set(value, createTally(events, row));
    }
  }
  return entries;
}

function addUses(
  uses: Map<string, UseSoFar>,
  rows: Row[],
  {
    events,
    group,
    found,
    closed,
  }: { events: EventRows; group: HourGroup; found: Entries; closed: ReadonlySet<string> },
): void {
  const place = {
    environment: wordOf(events.environments, group.from),
    meterKey: wordOf(events.meters, group.from),
    month: monthOf(group.hour),
  };
  const isMeterClosed = closed.has(propertyMonthText({ ...place, property: '' }));
  for (const [property, { values }] of found) {
    if (values.size === 0) continue;
    const name = propertyMonthText({ ...place, property });
    const use = uses.get(name) ?? { ...place, property, events: 0, rows: 0, values: new Set<string>() };
    uses.set(name, use);
    use.rows += values.size;
    const isClosed = isMeterClosed || closed.has(name);
    for (const [value, tally] of values) {
      use.events += tally.events;
      if (property !== '') use.values.add(value);
      if (!isClosed) rows.push({ group, property, value, tally });
    }
    if (property !== '') uses.get(propertyMonthText({ ...place, property: '' }))?.values.add(property);
  }
}

function blockOf(events: EventRows, rows: readonly Row[], areVoided: boolean): RowBlock {
  function column<T>(name: string, type: NativeType<T>, of: (row: Row) => T) {
    return nativeColumn(name, type, rows.map(of));
  }
  const { environments, customers, meters } = events;
  const sums = areVoided ? TAKEN_AWAY : ADDED;
  const hasLatest = ({ isUnordered }: Tally) => !isUnordered && !areVoided;
  return nativeBlock([
    column('environment', LOW_CARDINALITY_STRING, ({ group }) => wordOf(environments, group.from)),
    column('meter_key', LOW_CARDINALITY_STRING, ({ group }) => wordOf(meters, group.from)),
    column('property', LOW_CARDINALITY_STRING, ({ property }) => property),
    column('customer_id', STRING, ({ group }) => textOf(events, customers, group.from)),
    column('hour', DATE_TIME, ({ group }) => group.hour),
    column('value', LOW_CARDINALITY_STRING, ({ value }) => value),
    column('total', DECIMAL, ({ tally }) => sums.total(tally)),
    column('events', UINT64, ({ tally }) => sums.events(tally)),
    column('largest', DECIMAL, ({ tally }) => unitsOf(events, tally.largest)),
    column('unordered', UINT8, ({ tally }) => Number(!hasLatest(tally))),
    column('latest_values', arrayOf(DECIMAL), ({ tally }) =>
      hasLatest(tally) ? [unitsOf(events, tally.latest)] : NONE,
    ),
    column('latest_orders', arrayOf(ORDER), ({ tally }) =>
      hasLatest(tally) ? [orderOf(events, tally.latest)] : NONE,
    ),
    column('unique_values', arrayOf(STRING), ({ tally }) =>
      tally.uniques && !areVoided ? [...tally.uniques] : NONE,
    ),
  ]);
}

const NONE: never[] = [];
const ORDER = tupleOf<EventOrder>(DATE_TIME_MS, DATE_TIME_MS, STRING);

function wordOf({ texts, indexes }: EventRows['meters'], row: number): string {
  return texts[indexes[row] as number] ?? '';
}

/** Its first day, `YYYY-MM-DD`, of seconds since 1970. */
export function monthOf(hour: number): string {
  return `${new Date(hour * 1000).toISOString().slice(0, 7)}-01`;
}

/** Without the tag of its kind: a NUL and a letter (schemas/stored/event-row.ts). */
function valueText({ bytes, propertyValues }: EventRows, property: number): string {
  const start = propertyValues.starts[property] as number;
  const end = start + (propertyValues.lengths[property] as number);
  return bytes.toString('utf8', bytes[start] === 0 && end > start ? Math.min(end, start + 2) : start, end);
}

interface Names {
  of(property: number): string;
}

/** Events name their properties alike, in one order: a name is mostly the one that followed before. */
function createNames({ bytes, propertyNames }: EventRows): Names {
  const { starts, lengths } = propertyNames;
  const following = new Map<string, { at: number; name: string }>();
  let last = '';
  return {
    of(property) {
      const start = starts[property] as number;
      const length = lengths[property] as number;
      const known = following.get(last);
      const isKnown =
        known !== undefined &&
        lengths[known.at] === length &&
        bytes.compare(
          bytes,
          starts[known.at],
          (starts[known.at] as number) + length,
          start,
          start + length,
        ) === 0;
      const name = isKnown ? known.name : bytes.toString('utf8', start, start + length);
      if (!isKnown) following.set(last, { at: property, name });
      last = name;
      return name;
    },
  };
}
