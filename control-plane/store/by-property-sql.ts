import { AGGREGATE_SQL } from '../../domain/store/aggregate-sql.ts';
import type { UsageSources } from '../../domain/store/usage-sources.ts';
import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';

/** Sums of which those of a property's values can be taken away: what is left has no value. */
const ADDED: Partial<Record<Aggregation, { inner: string; left: string }>> = {
  sum: { inner: 'sum(r.total)', left: 'sumState(CAST(kept * part.2 AS Decimal(38, 12)))' },
  count: { inner: 'sum(r.events)', left: 'sumState(toUInt64(toInt64(kept) * part.2))' },
};

export interface ValuesSql {
  aggregation: Aggregation;
  /** Columns of the result besides the label, `expression AS name`, of rows with `hour` and `customer_id`. */
  keys: readonly string[];
  /** Further aggregates: of `amounts`, `counts`, `label` and the keys, with signs. */
  more?: string;
  where: string;
  sources: UsageSources;
}

/**
 * Usage by the values of the property `{property:String}`, from rows of it and of the property '', as
 * `label`, `counted`, `state` (of AGGREGATE_SQL) and `lacking`. Events without the property have the label
 * '': their usage is that of all events less that of all values. Other aggregates than sums are not found so:
 * where `lacking` is not 0 the events have to be read.
 */
export function valuesSql({ aggregation, keys, more = '', where, sources }: ValuesSql): string {
  const { ofHours, merged } = AGGREGATE_SQL[aggregation];
  const added = ADDED[aggregation];
  const state = added?.left ?? mergedState(merged).replace('(state)', '(kept)');
  const names = keys.map((key) => `${key.split(' AS ').at(-1)}, `).join('');
  const lacking = added ? '0' : `label = '' OR ${lackingSql(aggregation, 'lacks')}`;
  const ofProperty = `
     WHERE property IN ('', {property:String}) AND ${where}`;
  return `SELECT ${names}part.1 AS label, toUInt64(sum(toInt64(counts) * part.2)) AS counted,
       ${state} AS state, toUInt64(${lacking}) AS lacking ${more}
  FROM (
    SELECT ${keys.map((key) => `${key}, `).join('')}property, toString(value) AS text,
           sum(r.events) AS counts, sum(r.total) AS amounts, ${added?.inner ?? ofHours} AS kept,
           max(r.unordered) AS lacks
      FROM ${sources.byProperty(ofProperty, 'r')}
     GROUP BY ${names}property, text)
 ARRAY JOIN if(property = '', [('', 1)], [(text, 1), ('', -1)]) AS part
 GROUP BY ${names}label
HAVING counted != 0`;
}

/** Not 0 where rows by property do not have the latest value. */
export function lackingSql(aggregation: Aggregation, unordered: string): string {
  return aggregation === 'latest' ? `max(${unordered})` : '0';
}

/** The states of several as one: of {@link AGGREGATE_SQL}'s `merged`. */
export function mergedState(merged: string): string {
  return merged.replace('Merge(', 'MergeState(');
}

/** Hours (UTC) that one of these times cuts: their usage is read from the events. Milliseconds. */
export function cutHours(timesMs: readonly number[]): number[] {
  const cut = timesMs.filter((ms) => ms % HOUR_MS !== 0);
  return [...new Set(cut.map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS))];
}

/** Rows of whole hours of the span, but of those in `edges`: {@link hoursParams}. */
export const IN_WHOLE_HOURS = `hour >= toDateTime({hoursFrom:Int64}, 'UTC')
   AND hour < toDateTime({hoursTo:Int64}, 'UTC')
   AND toUnixTimestamp(hour) NOT IN (SELECT toUInt32(arrayJoin({edges:Array(String)})))`;

/** Texts: a list of numbers is no parameter that a server takes in the body of a request. */
export function hoursParams(span: Span | undefined, edges: readonly number[]) {
  const { fromMs, toMs } = span ?? { fromMs: 0, toMs: Date.UTC(2100, 0) };
  return {
    hoursFrom: Math.floor(fromMs / HOUR_MS) * 3600,
    hoursTo: Math.ceil(toMs / HOUR_MS) * 3600,
    edges: edges.map((ms) => String(ms / 1000)),
  };
}
