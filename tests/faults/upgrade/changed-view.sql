-- standstill
-- What a release may change: a new column of the hourly sums, filled for the past, and the view behind it.
DROP VIEW IF EXISTS metergate.usage_hourly_view SYNC;

DROP TABLE IF EXISTS metergate.usage_hourly SYNC;

CREATE TABLE metergate.usage_hourly
(
  environment  LowCardinality(String),
  customer_id  String,
  meter_key    LowCardinality(String),
  hour         DateTime('UTC'),
  total        SimpleAggregateFunction(sum, Decimal(38, 12)),
  events       SimpleAggregateFunction(sum, UInt64),
  largest      SimpleAggregateFunction(max, Decimal(38, 12)),
  of_next_release SimpleAggregateFunction(min, Decimal(38, 12)),
  latest       AggregateFunction(argMax, Decimal(38, 12),
                                 Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String)),
  uniques      AggregateFunction(uniqExact, String)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (environment, customer_id, meter_key, hour)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

INSERT INTO metergate.usage_hourly
SELECT environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin, sum(value), count(),
       max(value), min(value), argMaxState(value, (occurred_at, created_at, concat(unique_value, id))),
       uniqExactStateIf(unique_value, startsWith(unique_value, '='))
FROM metergate.events FINAL GROUP BY environment, customer_id, meter_key, begin;

CREATE MATERIALIZED VIEW metergate.usage_hourly_view TO metergate.usage_hourly AS
SELECT
  environment,
  customer_id,
  meter_key,
  toStartOfHour(occurred_at) AS hour,
  sum(value) AS total,
  count() AS events,
  max(value) AS largest,
  min(value) AS of_next_release,
  argMaxState(value, (occurred_at, created_at, concat(unique_value, id))) AS latest,
  uniqExactStateIf(unique_value, startsWith(unique_value, '=')) AS uniques
FROM metergate.events
GROUP BY environment, customer_id, meter_key, hour;
