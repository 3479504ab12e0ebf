import type { HourlyState } from '../../../schemas/stored/usage-hourly.ts';

const NAMES = 'environment, customer_id, meter_key, hour';

/**
 * A migration as the next release may have one: the hours get a column, filled for the past, which the load
 * fills as well since it follows from what it sends. `states`: what the hours have before it.
 */
export function changedHours(states: readonly HourlyState[]): string {
  const all = [...states, { column: 'of_next_release', ofEvents: 'sum(value)' }];
  return `-- standstill
DROP TABLE IF EXISTS metergate.usage_hourly_next SYNC;

CREATE TABLE metergate.usage_hourly_next AS metergate.usage_hourly;

ALTER TABLE metergate.usage_hourly_next ADD COLUMN IF NOT EXISTS
  of_next_release SimpleAggregateFunction(sum, Decimal(38, 12)) DEFAULT total;

INSERT INTO metergate.usage_hourly_next (${NAMES}, ${all.map(({ column }) => column).join(', ')})
SELECT ${NAMES.replace('hour', 'toStartOfHour(occurred_at) AS hour')},
  ${all.map(({ ofEvents }) => ofEvents).join(', ')}
FROM metergate.events FINAL GROUP BY ${NAMES};

EXCHANGE TABLES metergate.usage_hourly_next AND metergate.usage_hourly;

DROP TABLE metergate.usage_hourly_next SYNC;
`;
}

/** The same while a view made the hours, up to migration 4: it is made again behind the new column. */
export function changedView(states: readonly HourlyState[]): string {
  const all = [...states, { column: 'of_next_release', ofEvents: 'min(value)' }];
  const columns = all.map(({ column }) => column).join(', ');
  const values = all.map(({ column, ofEvents }) => `${ofEvents} AS ${column}`).join(', ');
  const hoursOf = (table: string) => `
SELECT ${NAMES.replace('hour', 'toStartOfHour(occurred_at) AS hour')}, ${values}
FROM ${table} GROUP BY ${NAMES}`;
  return `-- standstill
DROP VIEW IF EXISTS metergate.usage_hourly_view SYNC;

DROP TABLE IF EXISTS metergate.usage_hourly_next SYNC;

CREATE TABLE metergate.usage_hourly_next AS metergate.usage_hourly;

ALTER TABLE metergate.usage_hourly_next
  ADD COLUMN IF NOT EXISTS of_next_release SimpleAggregateFunction(min, Decimal(38, 12));

INSERT INTO metergate.usage_hourly_next (${NAMES}, ${columns})${hoursOf('metergate.events FINAL')};

EXCHANGE TABLES metergate.usage_hourly_next AND metergate.usage_hourly;

DROP TABLE metergate.usage_hourly_next SYNC;

CREATE MATERIALIZED VIEW metergate.usage_hourly_view TO metergate.usage_hourly
AS ${hoursOf('metergate.events')};
`;
}
