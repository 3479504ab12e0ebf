import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Attempt } from './send/send.ts';
import type { Backlog } from './store/backlog.ts';

/** What delivery counts. Plain functions, so that nothing else names a metric. */
export interface DeliveryMetrics {
  attempted(outcome: Attempt['outcome']): void;
  /** From the commit of what the event reports to the beginning of its first attempt. */
  firstAttempt(afterMs: number): void;
  backlog(backlog: Backlog): void;
}

const FIRST_ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300, 3_600];

export function createDeliveryMetrics(registry: Registry, nowMs: () => number): DeliveryMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const attempts = new Counter({
    name: 'metergate_webhook_attempts_total',
    help: 'Webhook delivery attempts, by outcome: succeeded, failed or gone.',
    labelNames: ['outcome'],
    registers,
  });
  const firstAttempts = new Histogram({
    name: 'metergate_webhook_first_attempt_seconds',
    help: 'Time from a webhook event to its first delivery attempt, in seconds.',
    buckets: FIRST_ATTEMPT_SECONDS,
    registers,
  });
  const backlog = gauge('metergate_webhook_backlog', 'Webhook deliveries pending, due now or scheduled.');
  const unsent = gauge(
    'metergate_webhook_untold_events',
    'Webhook events whose deliveries are not created yet.',
  );
  const circuits = gauge('metergate_webhook_circuits_open', 'Webhook endpoints with an open circuit.');
  let oldestDueAt: Date | null = null;
  new Gauge({
    name: 'metergate_webhook_oldest_due_seconds',
    help: 'Age of the oldest due delivery, in seconds; endpoints with an open circuit are left out.',
    registers,
    // Computed when it is read: it grows also between two reads.
    collect() {
      this.set(oldestDueAt ? Math.max(0, nowMs() - oldestDueAt.getTime()) / 1000 : 0);
    },
  });
  return {
    attempted: (outcome) => attempts.inc({ outcome }),
    firstAttempt: (afterMs) => firstAttempts.observe(Math.max(0, afterMs) / 1000),
    backlog(now) {
      backlog.set(now.deliveries);
      unsent.set(now.unsent);
      circuits.set(now.circuitsOpen);
      oldestDueAt = now.oldestDueAt;
    },
  };
}
