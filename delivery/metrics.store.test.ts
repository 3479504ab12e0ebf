import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { deliveryUnderTest, START_MS, soon } from './delivery-under-test.ts';
import { fanOut } from './fan-out.ts';
import { createDeliveryMetrics } from './metrics.ts';
import { readBacklog } from './store/backlog.ts';

/** Red when a retry counts as a first attempt, or when the time does not begin with the event. */
it('metrics show how attempts end and how soon the first one comes', async () => {
  const { endpoint, event, deliveries, clock, metric, run } = await deliveryUnderTest(({ attemptNumber }) => {
    return attemptNumber === 1 ? { outcome: 'failed', status: 500 } : {};
  });
  await endpoint();
  await event({ count: 3 });
  clock.ms += 400;
  run();
  await soon(async () => expect((await deliveries()).map(({ attempts }) => attempts)).toEqual([1, 1, 1]));
  clock.ms += 60_000;
  await soon(async () => expect((await deliveries()).map(({ attempts }) => attempts)).toEqual([2, 2, 2]));
  expect(await metric('attempts_total')).toEqual([
    { labels: { outcome: 'failed' }, value: 3 },
    { labels: { outcome: 'succeeded' }, value: 3 },
  ]);
  const buckets = (await metric('first_attempt_seconds')) as Array<{
    labels: { le?: number };
    value: number;
  }>;
  const below = (seconds: number) => buckets.find(({ labels }) => labels.le === seconds)?.value;
  expect([below(0.25), below(0.5)]).toEqual([0, 3]);
});

/** Red when what an open circuit puts off is called late. */
it('metrics show what waits and for how long, without what an open circuit delays', async () => {
  const { pool, endpoint, event, clock } = await deliveryUnderTest();
  const sick = await endpoint({ events: ['plan.created'] });
  await endpoint({ events: ['customer.created'] });
  await event({ type: 'plan.created', count: 2 });
  await fanOut(pool, new Date(START_MS - 60_000));
  await event({ type: 'customer.created' });
  await fanOut(pool, new Date(START_MS - 5_000));
  await event({ count: 4 });
  await pool.query('UPDATE webhook_endpoints SET circuit_until = $2, failures = 10 WHERE id = $1', [
    sick,
    new Date(START_MS + 1_000),
  ]);
  const backlog = await readBacklog(pool, new Date(START_MS));
  expect(backlog).toEqual({
    deliveries: 3,
    oldestDueAt: new Date(START_MS - 5_000),
    unsent: 4,
    circuitsOpen: 1,
  });
  const registry = new Registry();
  createDeliveryMetrics(registry, clock.nowMs).backlog(backlog);
  const text = await registry.metrics();
  for (const line of ['backlog 3', 'oldest_due_seconds 5', 'untold_events 4', 'circuits_open 1']) {
    expect(text).toContain(`metergate_webhook_${line}\n`);
  }
});
