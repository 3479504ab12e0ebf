import { expect, it } from 'vitest';
import { deferred } from '../../tests/support/deferred.ts';
import { deliveryUnderTest, soon } from '../delivery-under-test.ts';
import type { Attempt } from '../send/send.ts';

/** Red with the mutant one-global-queue. */
it('an endpoint that hangs takes five attempts and holds up no other', async () => {
  const hang = deferred<Partial<Attempt>>();
  const world = await deliveryUnderTest(({ url }) => (url.endsWith('/hanging') ? hang.promise : {}));
  await world.endpoint({ name: 'hanging' });
  await world.endpoint({ name: 'healthy' });
  world.run();
  await world.event({ count: 200 });
  await soon(() => expect(world.sentTo('healthy')).toHaveLength(200));
  expect(world.sentTo('hanging')).toHaveLength(5);
  hang.resolve({});
  await soon(() => expect(world.sentTo('hanging')).toHaveLength(200));
});

/** Red when what is due is chosen over all endpoints together, the oldest first. */
it('one event is sent at once despite a backlog of 100,000 of another endpoint', async () => {
  const hang = deferred<Partial<Attempt>>();
  const world = await deliveryUnderTest(({ url }) => (url.endsWith('/behind') ? hang.promise : {}));
  const behind = await world.endpoint({ name: 'behind', events: ['plan.created'] });
  await world.endpoint({ name: 'quick', events: ['customer.created'] });
  const [eventId] = await world.event({ type: 'plan.created' });
  await world.pool.query('UPDATE webhook_events SET fanned_out = true');
  await world.pool.query(
    `INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at)
     SELECT 'dlv_' || n, $1::timestamptz, $2, $3, $4, $1::timestamptz - n * interval '1 ms'
       FROM generate_series(1, 100000) AS n`,
    [new Date(world.clock.nowMs()), world.environment, behind, eventId],
  );
  world.run();
  await soon(() => expect(world.sentTo('behind')).toHaveLength(5));
  const startedAt = performance.now();
  for (let n = 1; n <= 20; n += 1) {
    await world.event({ type: 'customer.created' });
    await soon(() => expect(world.sentTo('quick')).toHaveLength(n));
  }
  expect((performance.now() - startedAt) / 20).toBeLessThan(500);
  expect(world.sentTo('behind')).toHaveLength(5);
  hang.resolve({});
});

/** Red when the endpoints that have waited longest come first although all their deliveries are running. */
it('one event is sent at once despite more hanging endpoints than one query takes', async () => {
  const hang = deferred<Partial<Attempt>>();
  const world = await deliveryUnderTest(({ url }) => (url.includes('/hanging') ? hang.promise : {}));
  for (let n = 0; n < 205; n += 1) await world.endpoint({ name: `hanging-${n}`, events: ['plan.created'] });
  await world.endpoint({ name: 'quick', events: ['customer.created'] });
  world.run();
  await world.event({ type: 'plan.created', count: 1 });
  await soon(() => expect(world.sent.length).toBeGreaterThanOrEqual(200));
  await world.event({ type: 'customer.created' });
  await soon(() => expect(world.sentTo('quick')).toHaveLength(1));
  hang.resolve({});
});

/** Red when a row is taken without looking whether another has it. */
it('several processes share the work and send everything once', async () => {
  const world = await deliveryUnderTest();
  for (const name of ['a', 'b', 'c']) await world.endpoint({ name });
  for (let n = 0; n < 3; n += 1) world.run();
  const ids = await world.event({ count: 500 });
  await soon(() => expect(world.sent).toHaveLength(1_500));
  for (const name of ['a', 'b', 'c']) {
    expect(new Set(world.sentTo(name).map(({ eventId }) => eventId))).toEqual(new Set(ids));
  }
  await soon(async () => {
    const { rows } = await world.pool.query('SELECT count(*) FROM webhook_queue');
    expect(rows).toEqual([{ count: 0 }]);
  });
  expect(world.sent).toHaveLength(1_500);
});

it('a process that ends takes nothing more, and leaves nothing taken that it did not try', async () => {
  const hang = deferred<Partial<Attempt>>();
  const world = await deliveryUnderTest(() => hang.promise);
  await world.endpoint();
  const delivery = world.run();
  await world.event({ count: 50 });
  await soon(() => expect(world.sent).toHaveLength(5));
  const closing = delivery.close();
  hang.resolve({});
  await closing;
  const made = await world.deliveries();
  expect(made.filter(({ state }) => state === 'succeeded')).toHaveLength(world.sent.length);
  expect(made.filter(({ owner }) => owner !== null)).toEqual([]);
  expect(world.sent.length).toBeLessThanOrEqual(10);
});

/** Red when the former leases of the same owner are waited for. */
it('a process that starts again under the same name sends at once what it had in flight', async () => {
  const world = await deliveryUnderTest();
  await world.endpoint();
  const [eventId] = await world.event();
  const killed = new Date(world.clock.nowMs() + 30_000);
  const stop = world.run({ owner: 'control' });
  await soon(() => expect(world.sent).toHaveLength(1));
  await stop.close();
  await world.pool.query(
    `INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at,
                                owner, lease_until)
     SELECT id, created_at, environment, endpoint_id, event_id, created_at, 'control', $1
       FROM webhook_deliveries`,
    [killed],
  );
  world.run({ owner: 'control' });
  await soon(() => expect(world.sent.map((one) => one.eventId)).toEqual([eventId, eventId]));
});
