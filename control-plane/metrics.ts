import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What the control plane counts. Plain functions, so that nothing else names a metric. */
export interface HttpMetrics {
  answered(operation: string, status: number, ms: number): void;
}

export interface ReadGauges {
  lagBytes(): number;
  lagSeconds(): number;
}

const REQUEST_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const requests = new Histogram({
    name: 'metergate_http_request_seconds',
    help: 'Control-plane requests, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: REQUEST_SECONDS,
    registers: [registry],
  });
  return {
    answered: (operation, status, ms) => requests.observe({ operation, status }, ms / 1000),
  };
}

/** What the subscription clock does. */
export interface ClockMetrics {
  moved(): void;
  failed(): void;
  /** Undefined: nothing is. */
  nextDueAt(moment: Date | undefined): void;
}

export function createClockMetrics(registry: Registry, nowMs: () => number): ClockMetrics {
  const registers = [registry];
  const moves = new Counter({
    name: 'metergate_subscription_moves_total',
    help: 'Subscriptions that were moved by time.',
    registers,
  });
  const failures = new Counter({
    name: 'metergate_subscription_move_failures_total',
    help: 'Moves of subscriptions that failed; each is tried again.',
    registers,
  });
  let next: Date | undefined;
  new Gauge({
    name: 'metergate_subscription_oldest_due_seconds',
    help: 'For how long the subscription that has waited longest has been due; 0 where none is.',
    registers,
    // Computed when asked: it grows also while the clock stands still.
    collect() {
      this.set(next ? Math.max(0, nowMs() - next.getTime()) / 1000 : 0);
    },
  });
  return {
    moved: () => moves.inc(),
    failed: () => failures.inc(),
    nextDueAt(moment) {
      next = moment;
    },
  };
}

export function createReadGauges(registry: Registry, gauges: ReadGauges): void {
  gauge(
    'metergate_uncounted_bytes',
    'Bytes of the log that are durable and not counted yet.',
    gauges.lagBytes,
  );
  gauge('metergate_uncounted_seconds', 'Age of what is durable and not counted yet.', gauges.lagSeconds);

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}
