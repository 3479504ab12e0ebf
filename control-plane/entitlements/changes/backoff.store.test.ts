import { expect, it, vi } from 'vitest';
import { systemClock } from '../../../infra/ports/clock.ts';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { newId } from '../../../schemas/primitives/ids.ts';
import { testWorkspace } from '../../../tests/support/test-pool.ts';
import { rejectRows } from '../../http/rejection-under-test.ts';
import type { Database } from '../../http/request-context.ts';
import { putOverride } from '../../store/overrides.ts';
import { auditEntries, catalogueUnderTest } from '../../subscriptions/subscriptions-under-test.ts';
import { notifiedUnderTest } from './changes-under-test.ts';
import { type NotifierOptions, notifierUnderTest } from './notifier-under-test.ts';
import { touchEntitlements } from './touch-entitlements.ts';

/*
 * Customers that cannot be notified when their time comes.
 *
 * Mutants this suite catches: the time of a customer in the backoff queue overwritten; a customer that stays
 * in the queue whatever time is due; one queued because a connection broke; one in the queue that is tried
 * with the others, or never again.
 */
const SOON = { timeout: 20_000, interval: 1 };
/** Less than the first wait in the backoff queue. */
const WITHOUT_BACKOFF = { timeout: 20_000, interval: 20 };

it('an expired override is recorded by a change while its customer is in the backoff queue', async () => {
  const { customer, override, reject, notifier, entries } = await placeUnderTest();
  const customerId = await customer();
  await override(customerId, { expiresAt: ago(1_000), nowMs: Date.now() - 5_000 });
  const { allow } = await reject(customerId, `RAISE 'no'`);
  const { failures, close } = notifier();
  await vi.waitFor(() => expect(failures()).toBeGreaterThan(0), SOON);
  await close();
  await allow();
  await override(customerId, { key: 'api', expiresAt: null });
  expect(await entries(customerId)).toEqual(['overrides.expire']);
});

it('the time that a change sets is notified when it comes, though an earlier one could not be', async () => {
  const { customer, override, notifier, notified, pool } = await placeUnderTest();
  const customerId = await customer();
  await override(customerId, { expiresAt: ago(1_000), nowMs: Date.now() - 5_000 });
  const next = new Date(Date.now() + 2_000);
  await inTransaction(pool, async (db) => {
    await override(customerId, { expiresAt: next, db });
    // Its row is locked for longer than the notifier waits.
    const { failures } = notifier({ statementTimeoutMs: 500 });
    await vi.waitFor(() => expect(failures()).toBeGreaterThan(0), SOON);
  });
  await vi.waitFor(async () => {
    expect(await notified.events(customerId, 'all')).toContainEqual(
      expect.objectContaining({ allowed: false }),
    );
  }, WITHOUT_BACKOFF);
});

it('a broken connection puts no customer into the backoff queue', async () => {
  const { customer, override, reject, notifier, notified } = await placeUnderTest();
  const customerId = await customer();
  await override(customerId, { expiresAt: ago(1_000), nowMs: Date.now() - 5_000 });
  const { allow } = await reject(customerId, 'PERFORM pg_terminate_backend(pg_backend_pid())');
  const { failures } = notifier();
  await vi.waitFor(() => expect(failures()).toBeGreaterThan(0), SOON);
  await allow();
  await vi.waitFor(
    async () => expect(await notified.events(customerId, 'all')).toHaveLength(2),
    WITHOUT_BACKOFF,
  );
});

it.each(['P0001', '57014'])(
  'one that fails with %s waits behind the others, and is notified later',
  async (code) => {
    const { customer, override, reject, notifier, notified } = await placeUnderTest();
    const [bad, good, late] = [await customer(), await customer(), await customer()];
    const times = { expiresAt: ago(1_000), nowMs: Date.now() - 5_000 };
    await override(bad, { ...times, expiresAt: ago(2_000) });
    await override(good, times);
    const { allow, tries } = await reject(bad, `RAISE 'no' USING ERRCODE = '${code}'`);
    const clock = { ...systemClock, aheadMs: 0, monotonicMs: () => clock.aheadMs };
    notifier({ clock });
    const isNotified = (id: string) =>
      vi.waitFor(async () => expect(await notified.events(id, 'all')).toHaveLength(2), SOON);
    await isNotified(good);
    const tried = await tries();
    await override(late, times);
    await isNotified(late);
    expect(await tries()).toBe(tried);
    await allow();
    clock.aheadMs = 2_000;
    await isNotified(bad);
    await notified.quiet();
    expect(await notified.untrue()).toEqual([]);
  },
);

interface GivenOverride {
  key?: string;
  expiresAt: Date | null;
  nowMs?: number;
  db?: Database;
}

/** One environment whose customers have overrides, written as the API does it, in one transaction. */
async function placeUnderTest() {
  const { pool, environment } = await testWorkspace();
  await pool.query(
    `INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
     SELECT key, $1, key, key, 'boolean', now(), now() FROM unnest(ARRAY['sso', 'api']) AS key`,
    [environment],
  );

  async function put(db: Database, customerId: string, { key = 'sso', expiresAt, nowMs }: GivenOverride) {
    const at = nowMs ?? Date.now();
    const value = { enabled: true, amount: null, expiresAt, reason: null };
    const row = { id: newId('ovr'), customerId, featureId: key, ...value, updatedAt: new Date(at) };
    await putOverride(db, environment, row);
    const context = { db, environment, actor: 'key', operationId: 'test', nowMs: at };
    await touchEntitlements(context, { customerIds: [customerId] });
  }

  return {
    pool,
    notified: notifiedUnderTest(pool, environment),
    customer: catalogueUnderTest(pool, environment).customer,
    notifier: (options: NotifierOptions = {}) => notifierUnderTest(pool, options),
    override: (customerId: string, given: GivenOverride) =>
      given.db ? put(given.db, customerId, given) : inTransaction(pool, (db) => put(db, customerId, given)),
    reject: (customerId: string, how: string) =>
      rejectRows(pool, { write: 'INSERT ON webhook_events', when: `new.object_id = '${customerId}'`, how }),
    async entries(customerId: string): Promise<string[]> {
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM overrides WHERE customer_id = $1 AND feature_id = 'sso'`,
        [customerId],
      );
      return (await auditEntries(pool, String(rows[0]?.id))).map(({ action }) => action);
    },
  };
}

function ago(ms: number): Date {
  return new Date(Date.now() - ms);
}
