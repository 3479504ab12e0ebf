/** A table within a statement: the customer meters and spans that are requested. */
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';

/** The place identifies the result. */
export interface RequestedSpan extends CustomerMeterPlace, Span {
  place: number;
}

type Table = 'hour' | 'event';

/** The columns of {@link requestedTable}, and what {@link isOfRequested} compares. */
export function requestedParams(table: Table, spans: readonly RequestedSpan[]): Record<string, string[]> {
  const each = (of: (span: RequestedSpan) => string) => spans.map(of);
  const some = (of: (span: RequestedSpan) => string) => [...new Set(spans.map(of))];
  return {
    [`${table}Places`]: each(({ place }) => String(place)),
    [`${table}Environments`]: each(({ environment }) => environment),
    [`${table}Customers`]: each(({ customerId }) => customerId),
    [`${table}Meters`]: each(({ meterKey }) => meterKey),
    [`${table}From`]: each(({ fromMs }) => String(fromMs)),
    [`${table}To`]: each(({ toMs }) => String(toMs)),
    [`${table}SomeEnvironments`]: some(({ environment }) => environment),
    [`${table}SomeCustomers`]: some(({ customerId }) => customerId),
    [`${table}SomeMeters`]: some(({ meterKey }) => meterKey),
  };
}

/** As a query: place, environment, customer_id, meter_key, from_ms, to_ms. */
export function requestedTable(table: Table): string {
  return `(
  SELECT toUInt32(row.1) AS place, row.2 AS environment, row.3 AS customer_id, row.4 AS meter_key,
         toInt64(row.5) AS from_ms, toInt64(row.6) AS to_ms
    FROM (SELECT arrayJoin(arrayZip({${table}Places:Array(String)}, {${table}Environments:Array(String)},
                 {${table}Customers:Array(String)}, {${table}Meters:Array(String)},
                 {${table}From:Array(String)}, {${table}To:Array(String)})) AS row))`;
}

/**
 * A superset of the requested rows: a condition on the beginning of either table's sort key, in a form that
 * uses the index. The join with the table itself selects the exact rows.
 */
export function isOfRequested(table: Table): string {
  return `environment IN {${table}SomeEnvironments:Array(String)}
     AND customer_id IN {${table}SomeCustomers:Array(String)}
     AND meter_key IN {${table}SomeMeters:Array(String)}`;
}
