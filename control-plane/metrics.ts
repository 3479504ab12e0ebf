import { Counter, Gauge, type Registry } from 'prom-client';
import { createQuickHistogram, type QuickHistogram } from './health/quick-histogram.ts';

/** The control plane's metrics. Plain functions, so that no other file names a metric. */
export interface HttpMetrics {
  responded(operation: string, status: number, ms: number): void;
}

export interface ReadGauges {
  lagBytes(): number;
  lagSeconds(): number;
}

const REQUEST_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = createQuickHistogram(registry, {
    name: 'metergate_http_request_seconds',
    help: 'Time of control-plane requests, by operation and HTTP status, in seconds.',
    labelNames: ['operation', 'status'],
    buckets: REQUEST_SECONDS,
  });
  /** By operation, then by status: few of either. */
  const known = new Map<string, Map<number, QuickHistogram>>();

  function of(operation: string, status: number): QuickHistogram {
    const statuses = known.get(operation) ?? new Map<number, QuickHistogram>();
    known.set(operation, statuses);
    const one = requests({ operation, status: String(status) });
    statuses.set(status, one);
    return one;
  }

  return {
    responded(operation, status, ms) {
      const one = known.get(operation)?.get(status) ?? of(operation, status);
      one.observe(ms / 1000);
    },
  };
}

/** The metrics of the subscription clock. */
export interface ClockMetrics {
  moved(): void;
  failed(): void;
  /** Undefined: none is due. */
  nextDueAt(time: Date | undefined): void;
}

export function createClockMetrics(registry: Registry, nowMs: () => number): ClockMetrics {
  const registers = [registry];
  const moves = new Counter({
    name: 'metergate_subscription_moves_total',
    help: 'Subscription changes made by the subscription clock.',
    registers,
  });
  const failures = new Counter({
    name: 'metergate_subscription_move_failures_total',
    help: 'Failed changes of the subscription clock; each is retried.',
    registers,
  });
  let next: Date | undefined;
  new Gauge({
    name: 'metergate_subscription_oldest_due_seconds',
    help: 'Age of the oldest due subscription change, in seconds; 0 if none is due.',
    registers,
    // Computed on each scrape: it also grows while the subscription clock is stuck.
    collect() {
      this.set(next ? Math.max(0, nowMs() - next.getTime()) / 1000 : 0);
    },
  });
  return {
    moved: () => moves.inc(),
    failed: () => failures.inc(),
    nextDueAt(time) {
      next = time;
    },
  };
}

/** Outcomes of the payment processor's events about subscriptions. */
export interface ProcessorMetrics {
  took(taken: { status: string; givenUp: number }): void;
}

export function createProcessorMetrics(registry: Registry): ProcessorMetrics {
  const registers = [registry];
  const events = new Counter({
    name: 'metergate_processor_events_total',
    help: 'Subscription events received from the payment processor, by outcome.',
    labelNames: ['status'],
    registers,
  });
  const givenUp = new Counter({
    name: 'metergate_processor_events_given_up_total',
    help: 'Waiting payment processor events dropped to make room for newer ones.',
    registers,
  });
  return {
    took({ status, givenUp: count }) {
      events.inc({ status });
      if (count > 0) givenUp.inc(count);
    },
  };
}

export function createReadGauges(registry: Registry, gauges: ReadGauges): void {
  const gauge = gaugesOf(registry);
  gauge(
    'metergate_uncounted_bytes',
    'Durable on the log and not counted yet, in bytes; 0 on Kafka, see metergate_load_lag_bytes.',
    gauges.lagBytes,
  );
  gauge(
    'metergate_uncounted_seconds',
    'Age of the oldest event that is durable and not counted yet, in seconds.',
    gauges.lagSeconds,
  );
}

function gaugesOf(registry: Registry) {
  return (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
}

export interface FeedGauges {
  streams(): number;
  customers(): number;
  cutOff(): number;
}

/** The metrics of the feed of entitlements. */
export function createFeedGauges(registry: Registry, gauges: FeedGauges): void {
  const gauge = gaugesOf(registry);
  gauge('metergate_feed_streams', 'Open feeds of entitlements.', gauges.streams);
  gauge('metergate_feed_customers', 'Customers that feeds of entitlements watch.', gauges.customers);
  new Counter({
    name: 'metergate_feed_cut_off_total',
    help: 'Feeds of entitlements that were ended because their clients read too slowly.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(gauges.cutOff());
    },
  });
}

/** The metrics of the change notifier. */
export interface NotifierMetrics {
  notified(events: number): void;
  failed(): void;
  /** Changes that touch many customers and are not finished, and since when the oldest waits. */
  waiting(jobs: number, oldestAt: Date | null): void;
}

export function createNotifierMetrics(registry: Registry, nowMs: () => number): NotifierMetrics {
  const registers = [registry];
  const events = new Counter({
    name: 'metergate_entitlement_changes_told_total',
    help: 'Events entitlement.changed sent after a change to many customers, or at a scheduled time.',
    registers,
  });
  const failures = new Counter({
    name: 'metergate_entitlement_tellings_failed_total',
    help: 'Failed chunks of entitlement.changed notifications; each is retried.',
    registers,
  });
  let waiting: { jobs: number; oldestAt: Date | null } = { jobs: 0, oldestAt: null };
  new Gauge({
    name: 'metergate_entitlement_fanouts',
    help: 'Changes to many customers whose notifications are not complete.',
    registers,
    collect() {
      this.set(waiting.jobs);
    },
  });
  new Gauge({
    name: 'metergate_entitlement_oldest_fanout_seconds',
    help: 'Age of the oldest incomplete change to many customers, in seconds; 0 if there is none.',
    registers,
    // Computed on each scrape: it also grows while no process works on it.
    collect() {
      const { oldestAt } = waiting;
      this.set(oldestAt ? Math.max(0, nowMs() - oldestAt.getTime()) / 1000 : 0);
    },
  });
  return {
    notified: (count) => events.inc(count),
    failed: () => failures.inc(),
    waiting(jobs, oldestAt) {
      waiting = { jobs, oldestAt };
    },
  };
}

/** What became of reservations, and those that are open. */
export interface ReservationMetrics {
  ended(outcome: 'held' | 'denied' | 'released' | 'expired', count: number): void;
  open(seen: { count: number; oldestAt: Date | null }): void;
}

export function createReservationMetrics(registry: Registry, nowMs: () => number): ReservationMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'metergate_reservations_total',
    help: 'Reservations by outcome: held, denied, released, expired.',
    labelNames: ['outcome'],
    registers,
  });
  let seen: { count: number; oldestAt: Date | null } = { count: 0, oldestAt: null };
  const gauge = gaugesOf(registry);
  gauge('metergate_reservations_open', 'Open reservations of the installation.', () => seen.count);
  gauge(
    'metergate_reservation_oldest_seconds',
    'Age of the oldest open reservation, in seconds; 0 if there is none.',
    () => (seen.oldestAt ? Math.max(0, nowMs() - seen.oldestAt.getTime()) / 1000 : 0),
  );
  return {
    ended(outcome, count) {
      if (count > 0) outcomes.inc({ outcome }, count);
    },
    open(now) {
      seen = now;
    },
  };
}

/** How long events wait to be loaded, against how long the log keeps them. */
export function createLogWatchMetrics(registry: Registry) {
  let seen = { oldestMs: 0, keepsMs: 0 };
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read() / 1000);
      },
    });
  gauge(
    'metergate_log_oldest_unloaded_seconds',
    'Age of the oldest event not loaded, in seconds; 0 where another process watches the log.',
    () => seen.oldestMs,
  );
  gauge(
    'metergate_log_retention_seconds',
    'Time the log keeps events, in seconds; 0 if forever, or where another process watches the log.',
    () => seen.keepsMs,
  );
  return {
    watched(ages: typeof seen): undefined {
      seen = ages;
    },
  };
}
