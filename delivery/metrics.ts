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
    help: 'Attempts to deliver an event to an endpoint, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const firstAttempts = new Histogram({
    name: 'metergate_webhook_first_attempt_seconds',
    help: 'From an event to the first attempt to deliver it.',
    buckets: FIRST_ATTEMPT_SECONDS,
    registers,
  });
  const backlog = gauge('metergate_webhook_backlog', 'Deliveries that are still to be sent, now or later.');
  const unsent = gauge('metergate_webhook_untold_events', 'Events whose deliveries are still to be made.');
  const circuits = gauge('metergate_webhook_circuits_open', 'Endpoints whose circuit is open.');
  let oldestDueAt: Date | null = null;
  new Gauge({
    name: 'metergate_webhook_oldest_due_seconds',
    help: 'For how long the delivery that has waited longest has been due, but for open circuits.',
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
