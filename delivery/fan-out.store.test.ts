import { describe, expect, it } from 'vitest';
import { deliveryUnderTest, START_MS, soon } from './delivery-under-test.ts';
import { fanOut } from './fan-out.ts';

const NOW = new Date(START_MS);

/*
 * Red with: the mark outside of the transaction; endpoints of other environments, types or times mixed up;
 * waiting for rows that another process has locked.
 */
describe('an event', () => {
  it('is for each endpoint of its environment that selected its type or all', async () => {
    const { pool, testEnvironment, endpoint, event, deliveries } = await deliveryUnderTest();
    const all = await endpoint({ events: ['*'] });
    const one = await endpoint({ events: ['plan.created', 'customer.created'] });
    await endpoint({ events: ['plan.created'] });
    await endpoint({ environment: testEnvironment });
    const [eventId] = await event({ type: 'customer.created' });
    expect(await fanOut(pool, NOW)).toBe(1);
    const made = await deliveries();
    expect(made.map(({ endpointId }) => endpointId).sort()).toEqual([all, one].sort());
    expect(made).toEqual(
      made.map((each) => ({ ...each, eventId, state: 'pending', attempts: 0, dueAtMs: START_MS })),
    );
    expect(await fanOut(pool, NOW)).toBe(0);
  });

  it('is not for an endpoint that was created after it', async () => {
    const { pool, endpoint, event, deliveries } = await deliveryUnderTest();
    await endpoint({ createdAt: new Date(START_MS + 1) });
    const old = await endpoint({ createdAt: NOW });
    await event();
    await fanOut(pool, NOW);
    expect(await deliveries()).toMatchObject([{ endpointId: old }]);
  });

  it('is held for an endpoint that is disabled', async () => {
    const { pool, endpoint, event, deliveries } = await deliveryUnderTest();
    await endpoint({ status: 'disabled' });
    await event();
    await fanOut(pool, NOW);
    expect(await deliveries()).toMatchObject([{ state: 'held', dueAtMs: null }]);
  });

  it('of many is sent once by several that work at once', async () => {
    const { pool, endpoint, event, deliveries } = await deliveryUnderTest();
    await endpoint({ name: 'a' });
    await endpoint({ name: 'b' });
    const ids = await event({ count: 1_500 });
    const work = async () => {
      while ((await fanOut(pool, NOW)) > 0);
    };
    await Promise.all([work(), work(), work()]);
    const made = await deliveries();
    expect(made.map(({ eventId }) => eventId).sort()).toEqual([...ids, ...ids].sort());
    expect(new Set(made.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`)).size).toBe(3_000);
  });

  /** Red when an event is marked of which some endpoints were cut off. */
  it('of many endpoints is sent to all of them, however few events are then taken at once', async () => {
    const { pool, endpoint, event, deliveries } = await deliveryUnderTest();
    for (let n = 0; n < 60; n += 1) await endpoint({ name: String(n) });
    const ids = await event({ count: 90 });
    // 83 times 60 are the last before 5,000.
    expect(await fanOut(pool, NOW)).toBe(83);
    expect(await fanOut(pool, NOW)).toBe(7);
    expect(await fanOut(pool, NOW)).toBe(0);
    const made = await deliveries();
    expect(new Set(made.map(({ eventId }) => eventId))).toEqual(new Set(ids));
    expect(new Set(made.map(({ eventId, endpointId }) => `${eventId} ${endpointId}`)).size).toBe(5_400);
  });

  it('whose deliveries cannot be made waits, and is sent later', async () => {
    const { pool, endpoint, event, deliveries, sent, run } = await deliveryUnderTest();
    await endpoint();
    const [eventId] = await event();
    await pool.query('ALTER TABLE webhook_queue ADD CONSTRAINT rejected CHECK (false)');
    await expect(fanOut(pool, NOW)).rejects.toMatchObject({ code: '23514' });
    expect(await deliveries()).toEqual([]);
    await pool.query('ALTER TABLE webhook_queue DROP CONSTRAINT rejected');
    run();
    await soon(() => expect(sent).toMatchObject([{ eventId }]));
  });
});
