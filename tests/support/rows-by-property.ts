import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { BY_PROPERTY_COLUMNS, byPropertyOfEvents } from '../../schemas/stored/usage-by-property.ts';

const TIMEOUT_MS = 20_000;
const KEY = 'environment, meter_key, property, customer_id, toUnixTimestamp(hour) AS at, value';

/** What rows of `usage_by_property` say, each key once. */
const VALUES = [
  'sum(total)',
  'sum(events)',
  'max(largest)',
  'max(unordered)',
  'if(max(unordered) = 0, argMaxMerge(latest), 0)',
  'uniqExactMerge(uniques)',
].join(', ');

/** Rows of `usage_by_property` that differ from what the stored events make, of either side. */
export function wrongRowsByProperty(
  warehouse: Warehouse,
  events = 'metergate.events FINAL',
): Promise<unknown[]> {
  const ofEvents = `(SELECT * FROM (${byPropertyOfEvents(events)}) AS c (${BY_PROPERTY_COLUMNS}))`;
  const said = (from: string) => `SELECT ${KEY}, tuple(${VALUES}) AS said FROM ${from} GROUP BY ALL`;
  return warehouse.query({
    sql: `SELECT *, count() AS sides FROM (
            ${said('metergate.usage_by_property')} UNION ALL ${said(ofEvents)})
          GROUP BY ALL HAVING sides != 2 LIMIT 10`,
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
}
