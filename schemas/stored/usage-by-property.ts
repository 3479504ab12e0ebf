import { TAG_LENGTH } from './event-row.ts';
import { changeColumns, HOURLY_STATES, ORDER_OF_ARRIVAL, takenAway } from './usage-hourly.ts';

/** The migration of ClickHouse that makes the rollup by property and fills it. */
export const BY_PROPERTY_SINCE = 5;

const IS_ORDERED = "startsWith(unique_value, '#')";

/**
 * What is kept of the events of an hour of a customer that have one value of a property: as of the hour, but
 * the latest only where every event has its order of arrival.
 */
const STATES = {
  total: HOURLY_STATES.total.ofEvents,
  events: HOURLY_STATES.events.ofEvents,
  largest: HOURLY_STATES.largest.ofEvents,
  unordered: `max(NOT ${IS_ORDERED})`,
  latest: `argMaxStateIf(value, ${ORDER_OF_ARRIVAL}, ${IS_ORDERED})`,
  uniques: HOURLY_STATES.uniques.ofEvents,
};

const KEY = 'environment, meter_key, property, customer_id';
export const BY_PROPERTY_COLUMNS = `${KEY}, hour, value, ${Object.keys(STATES).join(', ')}`;

/**
 * The properties by which an event counts, with the text of each value without the tag of its kind, and
 * ('', '') for the event itself. A name that is there twice has its first value.
 */
export const EVENT_ENTRIES = `arrayConcat([('', '')], arrayFilter(
  (entry, at) -> entry.1 != '' AND entry.2 != '' AND indexOf(mapKeys(properties), entry.1) = at,
  arrayMap((name, text) -> (name, if(startsWith(text, char(0)), substring(text, ${TAG_LENGTH + 1}), text)),
           mapKeys(properties), mapValues(properties)),
  arrayEnumerate(mapKeys(properties))))`;

/** That `property` and its meter are open in the month of `begin`. */
const IS_OPEN = ['property', "''"]
  .map(
    (property) => `(environment, meter_key, ${property}, toStartOfMonth(begin)) NOT IN
    (SELECT environment, meter_key, property, month FROM metergate.closed_properties)`,
  )
  .join(' AND ');

const entriesOf = (from: string, more = '') =>
  `(SELECT environment, meter_key, customer_id, value AS amount, unique_value, id, occurred_at, created_at,
           ${more}arrayJoin(${EVENT_ENTRIES}) AS entry FROM ${from})`;

/** The rows of the events of `from`, a table with its condition, as far as their properties are open. */
export function byPropertyOfEvents(from: string): string {
  return rowsOf(Object.values(STATES), entriesOf(from));
}

/** The same of `change_events` or `voided_events`, with `change` and `ofChange`. */
export function byPropertyOfChange(from: string, areVoided: boolean): string {
  const { total, events, ...others } = STATES;
  const sums = areVoided ? [total, events].map(takenAway) : [total, events];
  const entries = entriesOf(from, `${changeColumns(areVoided)}, `);
  return rowsOf([...sums, ...Object.values(others)], entries, ', change, ofChange');
}

function rowsOf(states: readonly string[], entries: string, more = ''): string {
  return `SELECT environment, meter_key, entry.1 AS property, customer_id,
       toStartOfHour(occurred_at) AS begin, entry.2 AS label,
       ${states.join(', ').replaceAll('(value', '(amount')}${more}
  FROM ${entries}
 WHERE ${IS_OPEN}
 GROUP BY ${KEY}, begin, label${more}`;
}

const HOUR = 'environment, customer_id, meter_key, begin';

/**
 * The hours in which open properties differ, one row for each property: `expected` of the events, `found` of
 * the rows. A hash shows what is there with another value. `events`, `rows` and `voided`, whose events are
 * taken away: tables with a condition.
 */
export function differentProperties({ events, rows, voided }: ComparedProperties): string {
  const takenAwayOf = (from?: string) =>
    from === undefined
      ? ''
      : `
    UNION ALL
    SELECT environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin, entry.1 AS property,
           ${takenAway('count()')} AS counts, ${takenAway('sum(amount)')} AS totals,
           -toInt64(sum(cityHash64(entry.1, entry.2))) AS hashes, 1 AS sign
      FROM ${entriesOf(from)} WHERE ${IS_OPEN} GROUP BY ${HOUR}, property`;
  return `SELECT ${HOUR}, property,
       sumIf(counts, sign = 1) AS expectedEvents, sumIf(totals, sign = 1) AS expectedTotal,
       sumIf(counts, sign = -1) AS foundEvents, sumIf(totals, sign = -1) AS foundTotal
  FROM (
    SELECT environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin, entry.1 AS property,
           count() AS counts, sum(amount) AS totals,
           toInt64(sum(cityHash64(entry.1, entry.2))) AS hashes, 1 AS sign
      FROM ${entriesOf(events)} WHERE ${IS_OPEN} GROUP BY ${HOUR}, property${takenAwayOf(voided)}
    UNION ALL
    SELECT environment, customer_id, meter_key, hour AS begin, r.property AS property,
           sum(r.events) AS counts, sum(r.total) AS totals,
           toInt64(sum(r.events * cityHash64(r.property, r.value))) AS hashes, -1 AS sign
      FROM (SELECT * FROM ${rows}) AS r WHERE ${IS_OPEN} GROUP BY ${HOUR}, property)
 GROUP BY ${HOUR}, property
HAVING sum(hashes * sign) != 0 OR sum(totals * sign) != 0`;
}

interface ComparedProperties extends Record<'events' | 'rows', string> {
  voided?: string;
}
