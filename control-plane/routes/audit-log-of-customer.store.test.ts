import { expect, it } from 'vitest';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { listAuditEntries } from '../store/audit-log.ts';

/*
 * The changes of one customer, over HTTP and a real Postgres.
 *
 * Breaks that it catches: changes of the customer's grants, overrides, budgets or subscriptions left out; a
 * deleted object; those of another customer or tenant; the whole log read for them.
 */
const api = await apiOfThisFile();
const ada = { name: 'Ada', email: 'ada@example.com', externalId: 'ada-1' };
const customerId = (await api.request('customers.create', { body: ada })).body.id;
const other = (await api.request('customers.create', { body: { name: 'Bo', email: 'bo@example.com' } })).body
  .id;
await api.request('meters.create', { body: { key: 'calls', name: 'Calls', aggregation: 'sum' } });
await api.request('features.create', { body: { key: 'sso', name: 'SSO', type: 'boolean' } });
const { body: plan } = await api.request('createPlan', { body: { productId: 'p', name: 'Pro' } });
await api.request('plans.publish', { params: { planId: plan.id } });

async function changeAll(customer: string): Promise<void> {
  const params = { customerId: customer, featureKey: 'sso', meterKey: 'calls' };
  await api.request('overrides.put', { params, body: { value: true } });
  await api.request('overrides.delete', { params });
  await api.request('budgets.put', { params, body: { hard: 7 } });
  await api.request('credits.grant', { params, body: { amount: 5, reason: 'Welcome' } });
  const subscription = { customerId: customer, planId: plan.id };
  const { body } = await api.request('subscriptions.create', { body: subscription });
  await api.request('subscriptions.cancel', { params: { subscriptionId: body.id }, body: { at: 'now' } });
}
await changeAll(customerId);
await changeAll(other);

const actionsOf = async (customer: string, key = api.keys.live.secret) => {
  const { body } = await api.request('auditLog.list', { query: { customerId: customer }, key });
  return { total: body.total, actions: body.data.map(({ action }) => action) };
};

const ALL = [
  'subscriptions.cancel',
  'subscriptions.create',
  'credits.grant',
  'budgets.put',
  'overrides.delete',
  'overrides.put',
  'customers.create',
];

it('are those of the customer and of all that it has, by its id or the external one', async () => {
  expect(await actionsOf(customerId)).toEqual({ total: ALL.length, actions: ALL });
  expect(await actionsOf('ada-1')).toEqual({ total: ALL.length, actions: ALL });
  expect((await actionsOf(other)).actions).toEqual(ALL);
});

it('are none of a customer that there is not, nor of another tenant', async () => {
  expect(await actionsOf('cus_none')).toEqual({ total: 0, actions: [] });
  const tenant = await api.addWorkspace();
  expect(await actionsOf(customerId, tenant.live.secret)).toEqual({ total: 0, actions: [] });
  expect(await actionsOf('ada-1', api.keys.test.secret)).toEqual({ total: 0, actions: [] });
});

it('go together with the other filters', async () => {
  const query = { customerId, action: 'credits.grant' };
  expect((await api.request('auditLog.list', { query })).body.total).toBe(1);
});

/** Red without the index: all changes of the environment are read. */
it('are read alone, of 5,000', async () => {
  await api.pool.query(
    `INSERT INTO audit_log (environment, actor, action, object_id, after, created_at)
     SELECT $1, 'key_a', 'credits.grant', 'grt_' || n, jsonb_build_object('customerId', 'cus_' || n % 99),
            timestamptz '2026-01-01' + n * interval '1 s'
       FROM generate_series(1, 5000) AS n`,
    [api.environment],
  );
  await api.pool.query('ANALYZE audit_log');
  const read = await inTransaction(api.pool, async (client) => {
    const rowsRead = async () => {
      const { rows } = await client.query<{ read: number }>(
        `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read
           FROM pg_stat_xact_user_tables WHERE relname = 'audit_log'`,
      );
      return rows[0]?.read ?? 0;
    };
    const before = await rowsRead();
    const span = { fromMs: 0, toMs: Date.now() + 60_000 };
    const query = { page: 1, pageSize: 20, customerId, span };
    expect((await listAuditEntries(client, api.environment, query)).total).toBe(ALL.length);
    return (await rowsRead()) - before;
  });
  expect(read).toBeLessThan(100);
});
