import { describe, expect, it } from 'vitest';
import {
  type DeliveryUnderTest,
  deliveryUnderTest,
  type Script,
  START_MS,
  type StoredDelivery,
  soon,
} from './delivery-under-test.ts';
import type { Attempt } from './send/send.ts';

const FAILED: Partial<Attempt> = { outcome: 'failed', status: 503, errorCode: 'status_not_2xx' };
const DAY_MS = 86_400_000;

/** An endpoint `sick` that fails until it is well, and `good`, which shows that takes went by. */
async function sickWorld(sick: Script = () => FAILED) {
  const state = { isWell: false };
  const world = await deliveryUnderTest((request) => {
    return request.url.endsWith('/sick') && !state.isWell ? sick(request) : {};
  });
  const sickId = await world.endpoint({ name: 'sick', events: ['plan.created'] });
  await world.endpoint({ name: 'good', events: ['customer.created'] });
  return { ...world, sickId, state, requested: () => world.sentTo('sick').length };
}

/** When this has ended everything that was due had its turn. */
async function turn({ event, sentTo }: Pick<DeliveryUnderTest, 'event' | 'sentTo'>): Promise<void> {
  for (let n = 0; n < 3; n += 1) {
    const before = sentTo('good').length;
    await event({ type: 'customer.created' });
    await soon(() => expect(sentTo('good')).toHaveLength(before + 1));
  }
}

/** As a replay of one delivery does, that has not been tried yet. Gives its id. */
async function hurry({ pool, clock, deliveries, sickId }: DeliveryUnderTest & { sickId: string }) {
  const waits = ({ endpointId, attempts, state }: StoredDelivery) =>
    endpointId === sickId && attempts === 0 && state === 'pending';
  const id = (await deliveries()).findLast(waits)?.id ?? '';
  const sql = 'UPDATE webhook_queue SET is_hurried = true, due_at = LEAST(due_at, $2) WHERE delivery_id = $1';
  await pool.query(sql, [id, new Date(clock.ms)]);
  return id;
}

async function attemptsOf({ deliveries }: DeliveryUnderTest, id: string): Promise<number | undefined> {
  return (await deliveries()).find((one) => one.id === id)?.attempts;
}

/* Red when the circuit does not open or close, or when what it puts off counts as an attempt. */
describe('an endpoint that fails', () => {
  it('is left alone after ten failures in a row, and what waits for it has lost no attempt', async () => {
    const world = await sickWorld();
    world.run();
    await world.event({ type: 'plan.created', count: 300 });
    await soon(async () => expect((await world.row(world.sickId)).circuit_until).not.toBeNull());
    await turn(world);
    const requested = world.requested();
    expect(requested).toBeGreaterThanOrEqual(10);
    // Four more were on their way with the tenth.
    expect(requested).toBeLessThanOrEqual(14);
    const made = (await world.deliveries()).filter(({ endpointId }) => endpointId === world.sickId);
    expect(made.filter(({ attempts }) => attempts > 0)).toHaveLength(requested);
    expect(made.filter(({ owner }) => owner !== null)).toEqual([]);
    expect(await world.metric('attempts_total')).toContainEqual(
      expect.objectContaining({ labels: { outcome: 'failed' }, value: requested }),
    );
  });

  it('is probed by one delivery at a time, later and later, and then gets everything', async () => {
    const world = await sickWorld();
    world.run();
    await world.event({ type: 'plan.created', count: 40 });
    await soon(async () => expect((await world.row(world.sickId)).circuit_until).not.toBeNull());
    for (const pauseMs of [5_000, 10_000, 20_000]) {
      const before = world.requested();
      world.clock.ms += pauseMs - 1;
      await turn(world);
      expect(world.requested()).toBe(before);
      world.clock.ms += 1;
      await soon(() => expect(world.requested()).toBe(before + 1));
      await turn(world);
      expect(world.requested()).toBe(before + 1);
    }
    world.state.isWell = true;
    world.clock.ms += DAY_MS;
    await soon(async () => {
      const states = (await world.deliveries()).map(({ state }) => state);
      expect(states.every((state) => state === 'succeeded')).toBe(true);
    });
    expect(await world.row(world.sickId)).toMatchObject({
      failures: 0,
      failing_since: null,
      circuit_until: null,
      circuit_probes: 0,
      status: 'enabled',
    });
  });

  it('is sent at once what a user replays, which may close its circuit', async () => {
    const world = await sickWorld();
    world.run();
    await world.event({ type: 'plan.created', count: 40 });
    await soon(async () => expect((await world.row(world.sickId)).circuit_until).not.toBeNull());
    await turn(world);
    const [before, open] = [world.requested(), await world.row(world.sickId)];
    const replayed = await hurry(world);
    await soon(async () => expect(await attemptsOf(world, replayed)).toBe(1));
    await turn(world);
    expect(world.requested()).toBe(before + 1);
    expect(await world.row(world.sickId)).toEqual({ ...open, failures: open.failures + 1 });
    const { rows } = await world.pool.query('SELECT FROM webhook_queue WHERE is_hurried');
    expect(rows).toEqual([]);
    world.state.isWell = true;
    const second = await hurry(world);
    await soon(async () => {
      expect((await world.deliveries()).find(({ id }) => id === second)?.state).toBe('succeeded');
    });
    const closed = { failures: 0, circuit_until: null, last_status: null, last_error: null };
    await soon(async () => expect(await world.row(world.sickId)).toMatchObject(closed));
  });

  it('shows how its last attempt failed', async () => {
    const world = await sickWorld();
    world.run();
    await world.event({ type: 'plan.created' });
    const shown = { failures: 1, last_status: 503, last_error: 'status_not_2xx' };
    await soon(async () => expect(await world.row(world.sickId)).toMatchObject(shown));
  });

  it('and nothing else for five days is disabled, and what waits is held', async () => {
    const world = await sickWorld();
    world.run();
    await world.event({ type: 'plan.created', count: 2 });
    await soon(() => expect(world.requested()).toBe(2));
    await soon(async () => expect((await world.row(world.sickId)).failures).toBe(2));
    world.clock.ms += 5 * DAY_MS;
    await soon(async () => {
      const held = (await world.deliveries()).map(({ state, dueAtMs }) => [state, dueAtMs]);
      expect(held).toEqual([
        ['held', null],
        ['held', null],
      ]);
    });
    const { disabled_reason, status, updated_at } = await world.row(world.sickId);
    expect({ disabled_reason, status, updated_at }).toEqual({
      disabled_reason: 'failing',
      status: 'disabled',
      updated_at: new Date(world.clock.ms),
    });
    const { rows } = await world.pool.query('SELECT * FROM audit_log');
    expect(rows).toMatchObject([
      { actor: 'delivery', action: 'webhookEndpoints.disable', object_id: world.sickId },
    ]);
    expect(JSON.stringify(rows)).not.toContain('whsec_');
  });

  it('with 410 is disabled at once, and is sent nothing that came with it', async () => {
    const world = await sickWorld(() => ({ outcome: 'gone', status: 410, errorCode: 'status_not_2xx' }));
    world.run();
    await world.event({ type: 'plan.created', count: 100 });
    await soon(async () => {
      const states = (await world.deliveries()).map(({ state }) => state);
      expect(states).toEqual(Array(100).fill('held'));
    });
    expect(world.requested()).toBeLessThanOrEqual(5);
    expect(await world.row(world.sickId)).toMatchObject({ disabled_reason: 'gone', status: 'disabled' });
    await world.event({ type: 'plan.created' });
    await soon(async () => expect(await world.deliveries()).toHaveLength(101));
    await turn(world);
    expect(world.requested()).toBeLessThanOrEqual(5);
  });
});

describe('what waits for an endpoint', () => {
  it('that is disabled by hand is held, and of one that is deleted it has failed', async () => {
    const world = await sickWorld();
    const deletedId = await world.endpoint({ name: 'sick', events: ['plan.created'] });
    world.run();
    await world.event({ type: 'plan.created', count: 3 });
    await soon(() => expect(world.requested()).toBe(6));
    await world.pool.query(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, [world.sickId]);
    await world.pool.query('DELETE FROM webhook_endpoints WHERE id = $1', [deletedId]);
    await soon(async () => {
      const made = await world.deliveries();
      expect(made.map(({ endpointId, state }) => [endpointId, state]).sort()).toEqual(
        [...Array(3).fill([world.sickId, 'held']), ...Array(3).fill([deletedId, 'failed'])].sort(),
      );
    });
    world.clock.ms = START_MS + DAY_MS;
    await turn(world);
    expect(world.requested()).toBe(6);
  });
});
