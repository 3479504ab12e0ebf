import { expect, it } from 'vitest';
import { TEST_NOW_MS } from '../../infra/conformance/event-line.ts';
import { openLoadStores } from '../../infra/conformance/load-stores.ts';
import { start } from '../aggregator-under-test.ts';
import { CUSTOMER, createTenant, ENVIRONMENT, METER } from '../settle/settlement-under-test.ts';
import { AUDIT_EXIT, askAudit } from './ask-audit.ts';

/*
 * Breaks that turn it red: sums of all wallets together; the unpaid rest left out; cost taken from what was
 * settled in place of the usage; usage beyond the first page left out.
 */
it('an audit proves each wallet, and names what contradicts it and what was settled wrongly', async () => {
  const stores = await openLoadStores();
  const tenant = await createTenant(stores);
  const { pool } = stores;
  const audit = async () => {
    const code = await askAudit(pool, { repair: false, beginWithinMs: 20_000, print: () => undefined });
    const { rows } = await pool.query('SELECT differences FROM audit_runs ORDER BY asked_at DESC LIMIT 1');
    return { code, differences: rows[0].differences };
  };
  await tenant.rate(1, 0, '2');
  await tenant.grant('100');
  await pool.query(
    `INSERT INTO credit_ledger (environment, customer_id, type, amount, unpaid, grant_id, created_at,
                                updated_at)
     SELECT environment, customer_id, 'grant', amount, 0, id, now(), now() FROM credit_grants`,
  );
  start(stores);
  await tenant.use({ value: '70' }, { value: '5', occurredAtMs: TEST_NOW_MS - 40 * 86_400_000 });
  expect(await tenant.wallet()).toEqual({ balance: '0', unpaid: '50' });
  expect(await audit()).toEqual({ code: AUDIT_EXIT.same, differences: [] });

  await pool.query('UPDATE credit_grants SET remaining = 0.000000000001');
  const owner = { environment: ENVIRONMENT, customerId: CUSTOMER };
  const sums = { granted: '100', expired: '0', cost: '150', balance: '0', unpaid: '50' };
  expect(await audit()).toEqual({
    code: AUDIT_EXIT.different,
    differences: [{ kind: 'wallet', ...owner, ...sums }],
  });

  await pool.query('UPDATE credit_grants SET remaining = 0');
  // As if an earlier settlement had not counted an event: all sums agree, and yet too little was burned.
  await pool.query('UPDATE credit_burns SET burned = burned - 1 WHERE burned > 100');
  await pool.query(`UPDATE credit_ledger SET unpaid = unpaid - 1 WHERE type = 'burn' AND unpaid > 1`);
  await pool.query(`UPDATE credit_uses SET amount = amount - 1 WHERE grant_id = ''`);
  await pool.query('UPDATE credit_wallets SET unpaid = unpaid - 1');
  const found = await audit();
  expect(found).toMatchObject({
    code: AUDIT_EXIT.different,
    differences: [{ kind: 'cost', ...owner, meterKey: METER, settled: '139', cost: '140' }],
  });
  // What is found is settled again.
  await expect.poll(() => tenant.wallet(), { timeout: 20_000 }).toEqual({ balance: '0', unpaid: '50' });
  expect(await audit()).toEqual({ code: AUDIT_EXIT.same, differences: [] });
});
