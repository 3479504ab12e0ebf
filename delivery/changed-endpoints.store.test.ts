import { describe, expect, it } from 'vitest';
import { deferred } from '../tests/support/deferred.ts';
import { type DeliveryUnderTest, deliveryUnderTest, soon } from './delivery-under-test.ts';
import type { Attempt } from './send/send.ts';

/** Five attempts hang, and five more deliveries of the same endpoint are taken and wait for their turn. */
async function fiveWait() {
  const hang = deferred<Partial<Attempt>>();
  const world: DeliveryUnderTest = await deliveryUnderTest(({ url }) =>
    url.endsWith('/old') ? hang.promise : {},
  );
  const id = await world.endpoint({ name: 'old' });
  world.run();
  await world.event({ count: 12 });
  await soon(async () => {
    const taken = (await world.deliveries()).filter(({ owner }) => owner !== null);
    expect([world.sent.length, taken.length]).toEqual([5, 10]);
  });
  const taken = async () => (await world.deliveries()).filter(({ owner }) => owner !== null).length;
  const versions = async () => {
    const { rows } = await world.pool.query('SELECT xmin::text || delivery_id AS version FROM webhook_queue');
    return rows.map(({ version }) => version);
  };
  return { ...world, hang, id, taken, versions };
}

/** Red when what was taken is sent as it was taken, for as long as its lease allows. */
describe('what was taken for an endpoint and not begun', () => {
  it('is sent to its new url', async () => {
    const { pool, id, hang, taken, sentTo, versions } = await fiveWait();
    const before = await versions();
    await pool.query('UPDATE webhook_endpoints SET url = $2, updated_at = now() WHERE id = $1', [
      id,
      'https://receiver.example/new',
    ]);
    // Nothing is given back where the endpoint was read, on a slow machine, only after its change.
    await soon(async () => {
      const given = (await versions()).filter((version) => !before.includes(version));
      expect(given.length).toBeGreaterThanOrEqual(5);
    }).catch(() => undefined);
    hang.resolve({});
    await soon(() => expect(sentTo('new')).toHaveLength(7));
    await soon(async () => expect(await taken()).toBe(0));
    expect(sentTo('old')).toHaveLength(5);
  });

  // Red when the outcome of an attempt is recorded for the endpoint as it is now.
  it('is sent to its new url, whatever the old one responds at last', async () => {
    const { pool, id, hang, taken, sentTo, deliveries } = await fiveWait();
    await pool.query('UPDATE webhook_endpoints SET url = $2, updated_at = now() WHERE id = $1', [
      id,
      'https://receiver.example/new',
    ]);
    hang.resolve({ outcome: 'gone', status: 410 });
    await soon(async () => expect(await taken()).toBe(0));
    await soon(async () => {
      expect((await deliveries()).filter((one) => one.state === 'succeeded')).toHaveLength(12);
    });
    const { rows } = await pool.query('SELECT status FROM webhook_endpoints WHERE id = $1', [id]);
    expect(rows).toEqual([{ status: 'enabled' }]);
    expect(sentTo('new')).toHaveLength(12);
  });

  it('is held when it is disabled, and has failed when it is deleted', async () => {
    for (const [change, state] of [
      [`UPDATE webhook_endpoints SET status = 'disabled', updated_at = now() WHERE id = $1`, 'held'],
      ['DELETE FROM webhook_endpoints WHERE id = $1', 'failed'],
    ] as const) {
      const { pool, id, hang, sent, deliveries } = await fiveWait();
      await pool.query(change, [id]);
      await soon(async () => {
        expect((await deliveries()).filter((one) => one.state === state)).toHaveLength(7);
      });
      hang.resolve({});
      await soon(async () => {
        expect((await deliveries()).filter((one) => one.state === 'succeeded')).toHaveLength(5);
      });
      expect(sent).toHaveLength(5);
    }
  });
});
