import type { Pool } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { addTestWorkspace, testPool } from '../../../tests/support/test-pool.ts';
import type { Database } from '../../http/request-context.ts';
import { catalogueUnderTest } from '../../subscriptions/subscriptions-under-test.ts';
import { notifiedUnderTest } from './changes-under-test.ts';
import { type NotifierOptions, notifierUnderTest } from './notifier-under-test.ts';
import { touchEntitlements } from './touch-entitlements.ts';

/** A short interval: the next assertions are about a job in the middle of its work. */
const SOON = { timeout: 20_000, interval: 1 };

/*
 * Changes that touch many customers, processed by notifiers that start and stop.
 *
 * Mutants this suite catches: the job outside the transaction of its change; a chunk's position written
 * before its events, or in a transaction of its own; what was notified not written; notifications by a
 * notifier that is cut off; a change that arrives meanwhile forgotten (`round_to` left as it was), or
 * restarted from the beginning each time.
 */
describe('a plan with many subscribers that changes', () => {
  it('is notified to each of them once, whichever notifiers are cut off within it', async () => {
    const place = await placeUnderTest();
    const { notified } = place;
    const customers = await place.subscribers(2_000);
    await place.give({ sso: true, seats: '5' });
    for (let cuts = 0; cuts < 5; cuts += 1) {
      const before = await place.eventCount();
      const notifier = place.notifier({ leaseMs: 100, chunkMax: 25 });
      await vi.waitFor(async () => expect(await place.eventCount()).toBeGreaterThan(before), SOON);
      // In the middle of a chunk, before it writes its events.
      await place.withNoEventWritten(notifier.cutOff);
    }
    // They were cut off inside the job, not after it.
    expect(await place.eventCount()).toBeLessThan(2 * customers);
    place.notifier({ leaseMs: 100 });
    await notified.quiet(60_000);
    expect(await place.eventsOf('sso')).toEqual({ events: customers, customers });
    expect(await place.eventsOf('seats')).toEqual({ events: customers, customers });
    expect(await notified.untrue()).toEqual([]);
  }, 240_000);

  it('again and again is notified in the end as it is, to all', async () => {
    const place = await placeUnderTest();
    await place.subscribers(400);
    place.notifier({ chunkMax: 20 });
    for (let seats = 1; seats <= 25; seats += 1) {
      const before = await place.eventCount();
      await place.give({ seats: String(seats) });
      // Each change finds the previous one in progress.
      await vi.waitFor(async () => expect(await place.eventCount()).toBeGreaterThan(before), SOON);
    }
    // A job that restarts with each change would not have reached the end of the list until now.
    expect(await place.customersNotified()).toBeGreaterThan(200);
    await place.notified.quiet();
    expect(await place.notified.untrue()).toEqual([]);
    expect(await place.customersNotified()).toBe(400);
  });

  it('once more while no notifier runs is notified to those already notified, too', async () => {
    const place = await placeUnderTest();
    await place.subscribers(200);
    await place.give({ seats: '1' });
    const notifier = place.notifier({ leaseMs: 100, chunkMax: 1 });
    await vi.waitFor(async () => expect(await place.eventCount()).toBeGreaterThan(0), SOON);
    await notifier.cutOff();
    expect(await place.eventCount()).toBeLessThan(200);
    await place.give({ seats: '2' });
    place.notifier();
    await place.notified.quiet();
    expect(await place.notified.untrue()).toEqual([]);
    expect(await place.customersNotified()).toBe(200);
  });

  it('back to what it was before the notifier ran sends nothing', async () => {
    const place = await placeUnderTest();
    await place.subscribers(10);
    await place.give({ seats: '5' });
    await place.give({});
    place.notifier();
    await place.notified.quiet();
    expect(await place.eventCount()).toBe(0);
  });

  it('is notified while a change of another environment takes longer', async () => {
    const place = await placeUnderTest();
    const other = await placeUnderTest(place.pool);
    await other.subscribers(500);
    await place.subscribers(5);
    await other.give({ seats: '1' });
    await place.give({ seats: '2' });
    place.notifier({ chunkMax: 2 });
    await vi.waitFor(async () => expect(await place.eventCount()).toBe(5), SOON);
    expect(await other.eventCount()).toBeLessThan(500);
    await place.notified.quiet(60_000);
    expect(await other.eventCount()).toBe(500);
  });
});

it('a plan change waits for a customer that subscribes meanwhile, with the old plan in view', async () => {
  const place = await placeUnderTest();
  const customerId = await place.customer();
  place.notifier();
  const open = await place.pool.connect();
  onTestFinished(() => open.release());
  await open.query('BEGIN');
  await place.subscribe(open);
  await place.touch(open, customerId);
  let hasResponse = false;
  const given = place.give({ seats: '5' }).then(() => {
    hasResponse = true;
  });
  await vi.waitFor(async () => expect(hasResponse || (await place.isAnySessionWaiting())).toBe(true), SOON);
  // Without the wait its job would be finished by now, without this customer.
  if (hasResponse) await place.notified.quiet();
  await open.query('COMMIT');
  await given;
  await place.notified.quiet();
  expect(await place.notified.untrue()).toEqual([]);
  expect(await place.eventCount()).toBe(1);
});

it('two notifiers at once notify everything once', async () => {
  const place = await placeUnderTest();
  await place.subscribers(500);
  await place.give({ seats: '5' });
  place.notifier({ chunkMax: 50, leaseMs: 60 });
  place.notifier({ chunkMax: 50, leaseMs: 60 });
  await place.notified.quiet(60_000);
  expect(await place.eventsOf('seats')).toEqual({ events: 500, customers: 500 });
});

it('a change of the plan and one of a customer at once leave it notified of the result of both', async () => {
  const place = await placeUnderTest();
  await place.subscribers(40);
  place.notifier({ chunkMax: 5 });
  for (let round = 1; round <= 8; round += 1) {
    const single = (await place.customerIds()).map((id, at) =>
      place.setStatus(id, (at + round) % 3 === 0 ? 'paused' : 'active'),
    );
    await Promise.all([place.give({ seats: String(round), sso: round % 2 === 0 }), ...single]);
  }
  await place.notified.quiet(60_000);
  expect(await place.notified.untrue()).toEqual([]);
});

type Worth = Record<string, boolean | string>;

/** One environment with a plan, whose entitlements change as through the API, in one transaction. */
async function placeUnderTest(shared?: Pool) {
  const pool = shared ?? (await testPool());
  const { environment } = await addTestWorkspace(pool);
  const { customer, plan } = catalogueUnderTest(pool, environment);
  const planId = await plan();
  await pool.query(
    `INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
     SELECT $1 || key, $1, key, key, type, now(), now()
       FROM (VALUES ('sso', 'boolean'), ('seats', 'limit')) AS new (key, type)`,
    [environment],
  );
  const touch = (db: Database, customerId: string) =>
    touchEntitlements({ ...changeIn(environment), db }, { customerIds: [customerId] });

  return {
    pool,
    customer,
    touch,
    ...databaseOf(pool, { environment, planId }),
    notified: notifiedUnderTest(pool, environment),
    notifier: (options: NotifierOptions = {}) => notifierUnderTest(pool, options),
    give: (worth: Worth) =>
      inTransaction(pool, async (db) => {
        await db.query('DELETE FROM plan_entitlements WHERE plan_id = $1', [planId]);
        for (const [key, value] of Object.entries(worth)) {
          await db.query(
            `INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount)
             VALUES ($1, 1, $2, $3, $4)`,
            [planId, environment + key, ...(typeof value === 'boolean' ? [value, null] : [null, value])],
          );
        }
        await touchEntitlements({ ...changeIn(environment), db }, { planId });
      }),
    setStatus: (customerId: string, status: string) =>
      inTransaction(pool, async (db) => {
        await db.query('UPDATE subscriptions SET status = $2 WHERE customer_id = $1', [customerId, status]);
        await touch(db, customerId);
      }),
  };
}

function changeIn(environment: string) {
  return { environment, actor: 'key', operationId: 'test', nowMs: Date.now() };
}

function databaseOf(pool: Pool, { environment, planId }: { environment: string; planId: string }) {
  const ofEvents = `FROM webhook_events WHERE environment = $1 AND type = 'entitlement.changed'`;
  async function count(sql: string, ...values: unknown[]): Promise<number> {
    const { rows } = await pool.query<{ n: number }>(sql, [environment, ...values]);
    return rows[0]?.n ?? 0;
  }
  /** A customer without a subscription. */
  async function subscribe(db: Database): Promise<void> {
    await db.query(
      `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, anchor,
         current_period_start, current_period_end, starts_at, created_at, updated_at)
       SELECT 'sub_' || md5(id), $1, id, $2, 'active', now(), now(), now(), now() + interval '1 month', now(),
              now(), now()
         FROM customers WHERE environment = $1
          AND NOT EXISTS (SELECT FROM subscriptions s WHERE s.customer_id = customers.id)`,
      [environment, planId],
    );
  }
  return {
    subscribe,
    async subscribers(many: number): Promise<number> {
      await pool.query(
        `INSERT INTO customers (id, environment, name, email)
         SELECT 'cus_' || md5($1 || n), $1, 'Ada', 'ada@example.com' FROM generate_series(1, $2::int) AS n`,
        [environment, many],
      );
      await subscribe(pool);
      return many;
    },
    async customerIds(): Promise<string[]> {
      const { rows } = await pool.query<{ id: string }>('SELECT id FROM customers WHERE environment = $1', [
        environment,
      ]);
      return rows.map(({ id }) => id);
    },
    isAnySessionWaiting: async () =>
      (await count(`SELECT count(*) AS n FROM pg_locks, (SELECT $1) AS _
                     WHERE locktype = 'advisory' AND NOT granted
                       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)) > 0,
    /** Runs `act` while every write of an event is blocked. */
    async withNoEventWritten(act: () => Promise<void>): Promise<void> {
      await inTransaction(pool, async (db) => {
        await db.query('LOCK TABLE webhook_events IN SHARE MODE');
        const waiting = `SELECT FROM pg_locks WHERE relation = 'webhook_events'::regclass AND NOT granted`;
        await vi.waitFor(async () => expect((await db.query(waiting)).rowCount).toBe(1), SOON);
        await act();
      });
    },
    eventCount: () => count(`SELECT count(*) AS n ${ofEvents}`),
    customersNotified: () => count(`SELECT count(DISTINCT object_id) AS n ${ofEvents}`),
    async eventsOf(featureKey: string) {
      const named = `AND body::json -> 'data' ->> 'featureKey' = $2`;
      return {
        events: await count(`SELECT count(*) AS n ${ofEvents} ${named}`, featureKey),
        customers: await count(`SELECT count(DISTINCT object_id) AS n ${ofEvents} ${named}`, featureKey),
      };
    },
  };
}
