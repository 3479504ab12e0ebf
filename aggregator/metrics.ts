import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export interface SettleMetrics {
  /** A batch is settled: its ranges, the customer meters with something to settle, thresholds crossed. */
  settled(batch: { ranges: number; customerMeters: number; crossings: number }): void;
  /** A look at what waits took so long, and left so many ranges. */
  settling(seconds: number, waiting: number): void;
}

export interface AggregatorMetrics extends SettleMetrics {
  /** A range is loaded: its events, and the position behind it. */
  loaded(partition: number, events: number, position: number): void;
  inserted(seconds: number, bytes: number): void;
  /** Bytes, or records where positions count those. */
  lag(partition: number, left: number): void;
  /** Events that the recent-ids filter left out. */
  doubled(events: number): void;
  quarantined(lines: number): void;
  /** Records that were none of ours. */
  foreignRecords(records: number): void;
  /** The load of a partition failed for this reason, and is retried. */
  failed(code: string): void;
}

export function createAggregatorMetrics(registry: Registry): AggregatorMetrics {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['partition'], registers });
  const events = counter('metergate_load_events_total', 'Events loaded into the warehouse.');
  const bytes = counter('metergate_load_bytes_total', 'Bytes of events inserted into the warehouse.');
  const doubled = counter(
    'metergate_load_doubled_events_total',
    'Events found twice on the log and counted once.',
  );
  const quarantined = counter('metergate_load_quarantined_lines_total', 'Quarantined event lines.');
  const foreign = counter('metergate_load_foreign_records_total', 'Records that Metergate did not write.');
  const position = gauge(
    'metergate_load_position',
    'Log position loaded so far, in bytes; in records on Kafka.',
  );
  const lagBytes = gauge(
    'metergate_load_lag_bytes',
    'Durable on the log and not loaded, by partition held here, in bytes; in records on Kafka.',
  );
  const rows = new Histogram({
    name: 'metergate_load_block_events',
    help: 'Events in one block inserted into the warehouse.',
    buckets: [1, 10, 100, 1_000, 10_000, 30_000, 60_000, 100_000],
    registers,
  });
  const seconds = new Histogram({
    name: 'metergate_load_insert_seconds',
    help: 'Time of one insert into the warehouse, in seconds.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  const failures = new Counter({
    name: 'metergate_load_failures_total',
    help: 'Failed attempts to load a partition, by failure code; each is retried.',
    labelNames: ['code'],
    registers,
  });

  return {
    ...createSettleMetrics(registry),
    loaded(partition, count, hi) {
      events.inc(count);
      rows.observe(count);
      position.set({ partition }, hi);
    },
    inserted(took, length) {
      seconds.observe(took);
      bytes.inc(length);
    },
    lag: (partition, left) => lagBytes.set({ partition }, left),
    doubled: (count) => doubled.inc(count),
    quarantined: (lines) => quarantined.inc(lines),
    foreignRecords: (records) => foreign.inc(records),
    failed: (code) => failures.inc({ code }),
  };
}

function createSettleMetrics(registry: Registry): SettleMetrics {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const ranges = counter('metergate_settle_ranges_total', 'Loaded ranges settled.');
  const customerMeters = counter(
    'metergate_settle_pairs_total',
    'Customers and meters settled that have a rate, a budget or a limit.',
  );
  const crossings = counter('metergate_settle_crossings_total', 'Usage thresholds crossed.');
  const waiting = new Gauge({
    name: 'metergate_settle_waiting_ranges',
    help: 'Ranges loaded and not settled yet.',
    registers,
  });
  const seconds = new Histogram({
    name: 'metergate_settle_seconds',
    help: 'Time of one settlement pass, in seconds.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  return {
    settled(batch) {
      ranges.inc(batch.ranges);
      customerMeters.inc(batch.customerMeters);
      crossings.inc(batch.crossings);
    },
    settling(took, left) {
      seconds.observe(took);
      waiting.set(left);
    },
  };
}
