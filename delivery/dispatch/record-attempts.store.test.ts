import type { Pool, PoolClient } from 'pg';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../tests/support/deferred.ts';
import { deliveryUnderTest, soon } from '../delivery-under-test.ts';
import type { Attempt } from '../send/send.ts';
import { LEASE_MS } from './take-jobs.ts';

const FAILED: Partial<Attempt> = { outcome: 'failed', status: 500, errorCode: 'status_not_2xx' };

describe('what came of attempts', () => {
  /** Red without the bound: each of them would be sent again after a kill. */
  it('waits while it cannot be recorded, with not many more begun, and nothing is sent twice', async () => {
    const { pool, endpoint, event, sent, deliveries, run } = await deliveryUnderTest();
    for (const name of ['a', 'b', 'c']) await endpoint({ name });
    await pool.query('ALTER TABLE webhook_attempts ADD CONSTRAINT rejected CHECK (false)');
    run();
    await event({ count: 400 });
    await soon(() => expect(sent.length).toBeGreaterThanOrEqual(500));
    expect((await deliveries()).every(({ state }) => state === 'pending')).toBe(true);
    expect(sent.length).toBeLessThanOrEqual(515);
    await pool.query('ALTER TABLE webhook_attempts DROP CONSTRAINT rejected');
    await soon(async () => {
      const states = (await deliveries()).map(({ state }) => state);
      expect(states).toEqual(Array(1_200).fill('succeeded'));
    });
    expect(sent).toHaveLength(1_200);
  });

  /** Red when a batch fails for one of it: nothing would be recorded any more. */
  it('is recorded also where one of them holds what no text can hold, without it', async () => {
    const { pool, endpoint, event, deliveries, sent, run } = await deliveryUnderTest(() => {
      return { responseBody: sent.length === 2 ? 'a\u0000b' : 'whole' };
    });
    await endpoint();
    run();
    await event({ count: 3 });
    await soon(async () => {
      expect((await deliveries()).map(({ state }) => state)).toEqual(Array(3).fill('succeeded'));
    });
    const { rows } = await pool.query('SELECT response_body AS body FROM webhook_attempts ORDER BY 1');
    expect(rows).toEqual([{ body: 'whole' }, { body: 'whole' }, { body: null }]);
  });

  /** Red when a process that has lost the lease writes a failure over what the next one has done. */
  it('counts of a process that was too slow only where it succeeded', async () => {
    const hangs = [deferred<Partial<Attempt>>(), deferred<Partial<Attempt>>()];
    const scripts = [() => hangs[0]?.promise, () => FAILED, () => hangs[1]?.promise, () => ({})];
    let at = 0;
    const world = await deliveryUnderTest(async () => {
      at += 1;
      return (await scripts[at - 1]?.()) ?? {};
    });
    await world.endpoint();
    const slow = async (outcome: Partial<Attempt>, hang: number) => {
      const begun = world.sent.length;
      const [eventId] = await world.event();
      // It looks once: with the lease run out it would take what it is at itself.
      const first = world.run({ pollMs: 60_000 });
      await soon(() => expect(world.sent).toHaveLength(begun + 1));
      world.clock.ms += LEASE_MS;
      const second = world.run();
      await soon(() => expect(world.sent).toHaveLength(begun + 2));
      await second.close();
      hangs[hang]?.resolve(outcome);
      await first.close();
      return (await world.deliveries()).find((one) => one.eventId === eventId);
    };
    expect(await slow({}, 0)).toMatchObject({ state: 'succeeded', dueAtMs: null });
    expect(await slow(FAILED, 1)).toMatchObject({ state: 'succeeded', dueAtMs: null });
  });

  /** Red when an older attempt overwrites the outcome of a later one. */
  it('takes back none of the attempts that were made meanwhile', async () => {
    const hang = deferred<Partial<Attempt>>();
    const world = await deliveryUnderTest(() => (world.sent.length === 1 ? hang.promise : FAILED));
    await world.endpoint();
    await world.event();
    // It looks once, and takes nothing again.
    const slow = world.run({ pollMs: 60_000 });
    await soon(() => expect(world.sent).toHaveLength(1));
    world.clock.ms += LEASE_MS;
    world.run();
    await soon(async () => expect(await world.deliveries()).toMatchObject([{ attempts: 1, owner: null }]));
    world.clock.ms += 5_000;
    await soon(async () => expect(await world.deliveries()).toMatchObject([{ attempts: 2, owner: null }]));
    hang.resolve({ status: 200 });
    await slow.close();
    expect(await world.deliveries()).toMatchObject([{ state: 'succeeded', attempts: 2, dueAtMs: null }]);
  });

  /** Red when recorded attempts are recorded again and count for their endpoint a second time. */
  it('counts once when the response to its COMMIT is lost', async () => {
    const hang = deferred<Partial<Attempt>>();
    const world = await deliveryUnderTest(() => hang.promise);
    const id = await world.endpoint();
    await world.event({ count: 5 });
    const { pool, lost } = losingOneCommit(world.pool);
    const delivery = world.run({ pool, pollMs: 60_000 });
    await soon(() => expect(world.sent).toHaveLength(5));
    hang.resolve(FAILED);
    await soon(() => expect(lost()).toBe(1));
    await delivery.close();
    expect(await world.row(id)).toMatchObject({ failures: 5, circuit_until: null });
    const made = (await world.deliveries()).map(({ state, attempts }) => [state, attempts]);
    expect(made).toEqual(Array(5).fill(['pending', 1]));
    const { rows } = await world.pool.query('SELECT number FROM webhook_attempts');
    expect(rows).toEqual(Array(5).fill({ number: 1 }));
  });
});

/** The first transaction that records attempts is committed, and its client never learns that it was. */
function losingOneCommit(pool: Pool) {
  let lost = 0;
  const deafTo = (client: PoolClient) => {
    let isRecording = false;
    return new Proxy(client, {
      get(target, name) {
        if (name !== 'query') return Reflect.get(target, name);
        return async (text: string, values?: unknown[]) => {
          isRecording ||= text.includes('INSERT INTO webhook_attempts');
          const result = await target.query(text, values);
          if (text !== 'COMMIT' || !isRecording || lost > 0) return result;
          lost += 1;
          throw new Error('Connection terminated unexpectedly');
        };
      },
    });
  };
  const deaf = new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name).bind(target);
      return async () => deafTo(await target.connect());
    },
  });
  return { pool: deaf, lost: () => lost };
}
