import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../infra/ports/clock.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testWorkspace } from '../../tests/support/test-pool.ts';
import { rejectRows } from '../http/rejection-under-test.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import { createClockMetrics } from '../metrics.ts';
import type { DueSubscription } from '../store/due-subscriptions.ts';
import { findSubscription, insertSubscription, type SubscriptionFields } from '../store/subscriptions.ts';
import { fieldsOfTerm, type TermFields } from '../subscriptions/subscription-fields.ts';
import { catalogueUnderTest, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';
import { moveDue } from './move-due.ts';
import { SUBSCRIPTION_CLOCK, startSubscriptionClock } from './subscription-clock.ts';

/** The time of a test's clock, which does not advance. */
export const START = new Date('2026-01-31T00:00:00.000Z');
export const DAY_MS = 86_400_000;
const CUSTOMERS = 16;

/** A separate installation whose time is the last day of January 2026. */
export async function clockUnderTest() {
  const { pool, environment } = await testWorkspace();
  const catalogue = catalogueUnderTest(pool, environment);
  const planId = await catalogue.plan();
  // A small number: moves of one customer wait for each other, and each reads all grants.
  const customerIds = await Promise.all(Array.from({ length: CUSTOMERS }, () => catalogue.customer()));
  let added = 0;
  const clock = standingClock();
  const registry = new Registry();
  const metrics = createClockMetrics(registry, clock.nowMs);
  const clocks: Array<ReturnType<typeof startSubscriptionClock>> = [];
  onTestFinished(async () => {
    await Promise.all(clocks.map((one) => one.close()));
  });
  return {
    pool,
    environment,
    clock,
    /** The value of its metric with this name. */
    async metric(name: string) {
      return (await registry.getSingleMetric(`metergate_subscription_${name}`)?.get())?.values[0]?.value;
    },
    /** Of one more process. */
    run(options: { leaseMs?: number } = {}) {
      const owner = `owner-${clocks.length + 1}`;
      const started = startSubscriptionClock(
        { pool, clock, log: SILENT, metrics },
        { everyMs: 20, owner, ...options },
      );
      clocks.push(started);
      return started;
    },
    /** One pass over what is due, as long as `hold` gives an epoch; what is slow waits by `slowClock`. */
    pass(hold: () => Promise<number | undefined>, slowClock: Pick<Clock, 'monotonicMs'> = clock) {
      const slow = createBackoffQueue<DueSubscription>(slowClock, ({ id }) => id);
      const { signal } = new AbortController();
      const { nowMs } = clock;
      return moveDue({ pool, log: SILENT, metrics, slow, hold, job: SUBSCRIPTION_CLOCK, nowMs, signal });
    },
    /** From now on the subscriptions that are marked as bad cannot be moved. */
    reject: (how: string) =>
      rejectRows(pool, { write: 'UPDATE ON subscriptions', when: `new.metadata ? 'bad'`, how }),
    add(fields: Partial<SubscriptionFields>) {
      added += 1;
      const customerId = customerIds[added % CUSTOMERS] ?? '';
      return addSubscription({ pool, environment, customerId, planId }, fields);
    },
    async row(id: string) {
      const found = await findSubscription(pool, environment, id);
      if (!found) throw new Error(`there is no subscription ${id}`);
      return found;
    },
    notified: (objectId: string) => emittedEvents(pool, objectId),
  };
}

/** What a subscription has that is active from the start on, but for whose it is and its term. */
export const PLAIN = {
  planVersion: null,
  status: 'active',
  statusSince: START,
  startsAt: START,
  cancelsAtPeriodEnd: false,
  pendingPlanId: null,
  noRollBefore: null,
  cancelAt: null,
  canceledAt: null,
  trialEnd: null,
  processorSubscriptionId: null,
  processorChangedAt: null,
  localChangedAt: null,
  processorCancelAt: null,
  processorSimulated: false,
  metadata: null,
  createdAt: START,
} as const;

interface Place {
  pool: Pool;
  environment: string;
  customerId: string;
  planId: string;
}

async function addSubscription(place: Place, fields: Partial<SubscriptionFields>): Promise<string> {
  const { pool, environment, customerId, planId } = place;
  const id = newId('sub');
  await insertSubscription(pool, environment, {
    id,
    customerId,
    planId,
    ...PLAIN,
    ...fieldsOfTerm({
      cycle: { anchorMs: START.getTime(), interval: 'month', intervalCount: 1 },
      period: { fromMs: START.getTime(), toMs: Date.UTC(2026, 1, 28) },
    }),
    ...fields,
  });
  return id;
}

function standingClock(): Clock & { now: Date; requested: number; aheadMs: number } {
  const clock = {
    now: START,
    requested: 0,
    /** Of the monotonic clock. */
    aheadMs: 0,
    nowMs: () => {
      clock.requested += 1;
      return clock.now.getTime();
    },
    monotonicMs: () => clock.aheadMs,
  };
  return clock;
}

/** Periods of this length, from the start on, as a row of an earlier release may store them. */
export function lasting(legacyIntervalMs: number): TermFields {
  const cycle = { anchorMs: START.getTime(), interval: 'day', intervalCount: 1, legacyIntervalMs } as const;
  return fieldsOfTerm({ cycle, period: { fromMs: cycle.anchorMs, toMs: cycle.anchorMs + legacyIntervalMs } });
}

export function daysLater(days: number): Date {
  return new Date(START.getTime() + days * DAY_MS);
}
