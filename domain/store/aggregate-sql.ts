/** Pieces of the statements on usage. Nothing in them comes from a client: values are always parameters. */
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';
import { TAG_LENGTH } from '../../schemas/stored/event-row.ts';
import { HOURLY_STATES, ORDER_OF_ARRIVAL } from '../../schemas/stored/usage-hourly.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';

/** How a meter's aggregate is made: states, so that hours, edges and groups can be merged to one value. */
export interface AggregateSql {
  /** State over rows of `events`. */
  ofEvents: string;
  /** The same over those of which the condition is true. */
  ofEventsIf(condition: string): string;
  /** The same over rows of `usage_hourly`. */
  ofHours: string;
  /** The value of a column `state` of such states; 0 of none. */
  merged: string;
}

export const AGGREGATE_SQL: Record<Aggregation, AggregateSql> = {
  sum: {
    ofEvents: 'sumState(value)',
    ofEventsIf: (condition) => `sumStateIf(value, ${condition})`,
    ofHours: 'sumState(CAST(total AS Decimal(38, 12)))',
    merged: 'sumMerge(state)',
  },
  count: {
    ofEvents: 'sumState(toUInt64(1))',
    ofEventsIf: (condition) => `sumStateIf(toUInt64(1), ${condition})`,
    ofHours: 'sumState(CAST(events AS UInt64))',
    merged: 'sumMerge(state)',
  },
  max: {
    ofEvents: 'maxState(value)',
    ofEventsIf: (condition) => `maxStateIf(value, ${condition})`,
    ofHours: 'maxState(CAST(largest AS Decimal(38, 12)))',
    merged: 'maxMerge(state)',
  },
  latest: {
    ofEvents: HOURLY_STATES.latest.ofEvents,
    ofEventsIf: (condition) => `argMaxStateIf(value, ${ORDER_OF_ARRIVAL}, ${condition})`,
    ofHours: 'argMaxMergeState(latest)',
    merged: 'argMaxMerge(state)',
  },
  unique: {
    ofEvents: HOURLY_STATES.uniques.ofEvents,
    ofEventsIf: (condition) =>
      `uniqExactStateIf(unique_value, startsWith(unique_value, '=') AND ${condition})`,
    ofHours: 'uniqExactMergeState(uniques)',
    merged: 'uniqExactMerge(state)',
  },
};

/** occurred_at within [from, to), whose values are parameters of these names, in milliseconds. */
export function occurredWithin(from: string, to: string): string {
  return `occurred_at >= fromUnixTimestamp64Milli({${from}:Int64}, 'UTC')
    AND occurred_at < fromUnixTimestamp64Milli({${to}:Int64}, 'UTC')`;
}

/**
 * The hours that [from, to) touches: all that may be said of occurred_at before FINAL has merged. Of two rows
 * of an event, which are of one hour, the one that stands may lie outside of the span, alone in its part;
 * servers before ClickHouse 26.3 leave out parts by a condition, also one around the statement, before that.
 */
export function occurredInHours(from: string, to: string): string {
  const [begin, end] = [`{${from}:Int64}`, `{${to}:Int64}`];
  const time = (ms: string) => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  // mutant: part-left-out-before-the-merge
  return `occurred_at >= ${time(`${begin} - positiveModulo(${begin}, ${HOUR_MS})`)}
    AND occurred_at < ${time(`${end} + positiveModulo(-${end}, ${HOUR_MS})`)}`;
}

/** {@link occurredWithin} of what FINAL has merged: no server leaves out a part by dateDiff. */
export function mergedWithin(from: string, to: string): string {
  const since = (name: string) =>
    `dateDiff('millisecond', fromUnixTimestamp64Milli({${name}:Int64}, 'UTC'), occurred_at)`;
  return `${occurredInHours(from, to)} AND ${since(from)} >= 0 AND ${since(to)} < 0`;
}

/** A property's text without the tag of its kind (schemas/stored/event-row.ts); '' where there is none. */
export function labelOf(property: string): string {
  const text = `properties[${property}]`;
  return `if(startsWith(${text}, char(0)), substring(${text}, ${TAG_LENGTH + 1}), ${text})`;
}
