-- standstill
-- Usage by the values of each property, and as the property '' all usage of the meter: a breakdown takes its
-- whole from the same scan as its groups. What was stored before is filled in behind these statements
-- (infra/clickhouse/rollups/fill-by-property.ts).
--
-- `unordered` says that the latest value is not kept: some event has no order of arrival. Only meters of
-- `latest` need it, and an id for each row would cost 39 bytes.
CREATE TABLE IF NOT EXISTS metergate.usage_by_property
(
  environment   LowCardinality(String),
  meter_key     LowCardinality(String),
  property      LowCardinality(String),
  customer_id   String,
  hour          DateTime('UTC'),
  value         LowCardinality(String),
  total         SimpleAggregateFunction(sum, Decimal(38, 12)) CODEC(ZSTD(1)),
  events        SimpleAggregateFunction(sum, UInt64),
  largest       SimpleAggregateFunction(max, Decimal(38, 12)) CODEC(ZSTD(1)),
  unordered     SimpleAggregateFunction(max, UInt8),
  latest        AggregateFunction(argMax, Decimal(38, 12),
                                  Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String))
                DEFAULT arrayReduce('argMaxState', latest_values, latest_orders),
  uniques       AggregateFunction(uniqExact, String) DEFAULT arrayReduce('uniqExactState', unique_values),
  latest_values Array(Decimal(38, 12)) EPHEMERAL,
  latest_orders Array(Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String)) EPHEMERAL,
  unique_values Array(String) EPHEMERAL
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (environment, meter_key, property, customer_id, hour, value)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Properties whose rows would be too many, by month: they are read from the events. Of the property '' the
-- whole meter. A closed property is never opened again: some of its rows were not written.
CREATE TABLE IF NOT EXISTS metergate.closed_properties
(
  environment  LowCardinality(String),
  meter_key    LowCardinality(String),
  property     String,
  month        Date
)
ENGINE = ReplacingMergeTree
ORDER BY (environment, meter_key, property, month)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
