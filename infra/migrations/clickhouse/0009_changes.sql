-- Changes of usage: voids, amendments, corrections and backfills (docs/decisions/corrections.md). Their rows
-- are in tables of their own. Statements on ordinary usage read none of them: not those of an earlier
-- release, and not those of a reader who does not know of a change yet.
--
-- `change` is the number of the change that a row is of, in Postgres `usage_changes`.

-- New events: those of a backfill, and the one that an amendment puts in another's place.
CREATE TABLE IF NOT EXISTS metergate.change_events
(
  environment   LowCardinality(String),
  customer_id   String,
  meter_key     LowCardinality(String),
  id            String CODEC(ZSTD(1)),
  fingerprint   UInt64 CODEC(NONE),
  value         Decimal(38, 12) CODEC(GCD, ZSTD(1)),
  unique_value  String,
  properties    Map(String, String),
  occurred_at   DateTime64(3, 'UTC') CODEC(T64, LZ4),
  created_at    DateTime64(3, 'UTC') CODEC(T64, LZ4),
  change        UInt64 CODEC(T64, LZ4),
  version       UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Milli(created_at))) CODEC(T64, LZ4),
  INDEX created_at_span created_at TYPE minmax GRANULARITY 1,
  INDEX id_filter id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(occurred_at)
ORDER BY (environment, customer_id, meter_key, toStartOfHour(occurred_at), id, change)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- Events that count no more, each with its own id, time, value and properties; `created_at` is that of the
-- void. `of_change` is the change that the event itself is of, 0 for ordinary usage.
CREATE TABLE IF NOT EXISTS metergate.voided_events
(
  environment   LowCardinality(String),
  customer_id   String,
  meter_key     LowCardinality(String),
  id            String CODEC(ZSTD(1)),
  fingerprint   UInt64 CODEC(NONE),
  value         Decimal(38, 12) CODEC(GCD, ZSTD(1)),
  unique_value  String,
  properties    Map(String, String),
  occurred_at   DateTime64(3, 'UTC') CODEC(T64, LZ4),
  created_at    DateTime64(3, 'UTC') CODEC(T64, LZ4),
  change        UInt64 CODEC(T64, LZ4),
  of_change     UInt64 CODEC(T64, LZ4),
  version       UInt64 MATERIALIZED bitNot(toUInt64(toUnixTimestamp64Milli(created_at))) CODEC(T64, LZ4),
  INDEX created_at_span created_at TYPE minmax GRANULARITY 1,
  INDEX id_filter id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(occurred_at)
ORDER BY (environment, customer_id, meter_key, toStartOfHour(occurred_at), id, change, of_change)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- As usage_hourly. Of voided events `total` and `events` are subtracted: sums of UInt64 begin again at 0
-- behind their largest number, so that a row of 2^64 - 3 takes three events away, whatever is added first.
-- Nothing reads the other states of hours with voided events.
CREATE TABLE IF NOT EXISTS metergate.change_hourly
(
  environment   LowCardinality(String),
  customer_id   String,
  meter_key     LowCardinality(String),
  hour          DateTime('UTC') CODEC(GCD, Delta, ZSTD(1)),
  change        UInt64 CODEC(T64, LZ4),
  of_change     UInt64 CODEC(T64, LZ4),
  total         SimpleAggregateFunction(sum, Decimal(38, 12)) CODEC(GCD, ZSTD(1)),
  events        SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4),
  largest       SimpleAggregateFunction(max, Decimal(38, 12)) CODEC(GCD, ZSTD(1)),
  latest        AggregateFunction(argMax, Decimal(38, 12),
                                  Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String))
                DEFAULT initializeAggregation('argMaxState', latest_value, latest_order) CODEC(ZSTD(1)),
  uniques       AggregateFunction(uniqExact, String)
                DEFAULT arrayReduce('uniqExactState', unique_values) CODEC(ZSTD(1)),
  latest_value  Decimal(38, 12) EPHEMERAL,
  latest_order  Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String) EPHEMERAL,
  unique_values Array(String) EPHEMERAL
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (environment, customer_id, meter_key, hour, change, of_change)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;

-- As usage_by_property, with what is closed there.
CREATE TABLE IF NOT EXISTS metergate.change_by_property
(
  environment   LowCardinality(String),
  meter_key     LowCardinality(String),
  property      LowCardinality(String),
  customer_id   String,
  hour          DateTime('UTC') CODEC(GCD, Delta, ZSTD(1)),
  value         LowCardinality(String),
  change        UInt64 CODEC(T64, LZ4),
  of_change     UInt64 CODEC(T64, LZ4),
  total         SimpleAggregateFunction(sum, Decimal(38, 12)) CODEC(GCD, ZSTD(1)),
  events        SimpleAggregateFunction(sum, UInt64) CODEC(T64, LZ4),
  largest       SimpleAggregateFunction(max, Decimal(38, 12)) CODEC(GCD, ZSTD(1)),
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
ORDER BY (environment, meter_key, property, customer_id, hour, value, change, of_change)
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1;
