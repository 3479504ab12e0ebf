-- standstill
-- Events of a `latest` meter that occurred and were created in one millisecond are ordered by their arrival,
-- which unique_value holds (`arrivalText` in schemas/event-row.ts). Rows of earlier releases do not have it,
-- and are ordered by their ids as before. The type of the column stays, and so do the hours.
DROP VIEW IF EXISTS metergate.usage_hourly_view SYNC;

CREATE MATERIALIZED VIEW IF NOT EXISTS metergate.usage_hourly_view TO metergate.usage_hourly AS
SELECT
  environment,
  customer_id,
  meter_key,
  toStartOfHour(occurred_at) AS hour,
  sum(value) AS total,
  count() AS events,
  max(value) AS largest,
  argMaxState(value, (occurred_at, created_at, concat(unique_value, id))) AS latest,
  uniqExactStateIf(unique_value, startsWith(unique_value, '=')) AS uniques
FROM metergate.events
GROUP BY environment, customer_id, meter_key, hour;
