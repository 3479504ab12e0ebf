import { expect, it } from 'vitest';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import type { LoadStores } from '../../tests/support/load-stores.ts';
import { start } from '../aggregator-under-test.ts';
import { CUSTOMER, ENVIRONMENT, METER, openTenant } from '../settle/settlement-under-test.ts';
import { audit } from './audit-under-test.ts';
import { AUDIT_EXIT } from './request-audit.ts';

/*
 * Mutants that turn it red: sums of all wallets together; the unpaid rest left out; cost computed from the
 * settled usage instead of the usage; usage beyond the first page left out; customers found by their wallets
 * only; sums of grants together; the settled usage compared only where there is usage.
 */
const OWNER = { environment: ENVIRONMENT, customerId: CUSTOMER };
const SAME = { code: AUDIT_EXIT.same, differences: [] };
const different = (...differences: object[]) => ({ code: AUDIT_EXIT.different, differences });
const WAIT = { timeout: 20_000 };

it('an audit proves each wallet, and names what contradicts it and what was settled wrongly', async () => {
  const { pool, tenant, audit } = await spentTenant();
  expect(await audit()).toEqual(SAME);

  await pool.query('UPDATE credit_grants SET remaining = 0.000000000001');
  const sums = { granted: '100', expired: '0', cost: '150', balance: '0', unpaid: '50' };
  const grant = { grantId: 'grant_a', granted: '100', expired: '0', used: '100' };
  expect(await audit()).toEqual(
    different(
      { kind: 'wallet', ...OWNER, ...sums },
      { kind: 'grant', ...OWNER, ...grant, remaining: '0.000000000001' },
    ),
  );

  await pool.query('UPDATE credit_grants SET remaining = 0');
  // As if an earlier settlement had not counted an event: all sums agree, and yet too little was burned.
  await pool.query('UPDATE credit_burns SET burned = burned - 1 WHERE burned > 100');
  await pool.query(`UPDATE credit_ledger SET unpaid = unpaid - 1 WHERE type = 'burn' AND unpaid > 1`);
  await pool.query(`UPDATE credit_uses SET amount = amount - 1 WHERE grant_id = ''`);
  await pool.query('UPDATE credit_wallets SET unpaid = unpaid - 1');
  expect(await audit()).toMatchObject(
    different({ kind: 'cost', ...OWNER, meterKey: METER, settled: '139', cost: '140' }),
  );
  // What is found is settled again.
  await expect.poll(() => tenant.wallet(), WAIT).toEqual({ balance: '0', unpaid: '50' });
  expect(await audit()).toEqual(SAME);
});

it('an audit names a grant that does not add up, though all of its wallet together does', async () => {
  const { pool, audit } = await spentTenant();
  await pool.query(
    `INSERT INTO credit_grants VALUES ('grant_b', $1, $2, 40, 40, 'for free', 0, NULL, now()),
                                      ('grant_c', $1, $2, 60, 60, 'for free', 0, NULL, now())`,
    [ENVIRONMENT, CUSTOMER],
  );
  await enterGrants(pool, ['grant_b', 'grant_c']);
  await pool.query('UPDATE credit_wallets SET balance = 100, unpaid = 0');
  await pool.query(`UPDATE credit_grants SET remaining = remaining - 25 WHERE id <> 'grant_a'`);
  await pool.query(`UPDATE credit_wallets SET balance = 50`);
  await pool.query(`UPDATE credit_uses SET grant_id = 'grant_b', amount = 25 WHERE grant_id = ''`);
  await pool.query(
    `INSERT INTO credit_uses (environment, customer_id, meter_key, grant_id, amount)
     VALUES ($1, $2, $3, 'grant_c', 25)`,
    [ENVIRONMENT, CUSTOMER, METER],
  );
  await pool.query(
    `INSERT INTO credit_ledger (environment, customer_id, type, amount, unpaid, grant_id, created_at,
                                updated_at)
     VALUES ($1, $2, 'repayment', -50, -50, 'grant_b', now(), now())`,
    [ENVIRONMENT, CUSTOMER],
  );
  expect(await audit()).toEqual(SAME);

  const grantOf = (grantId: string, rest: object) => {
    return { kind: 'grant', ...OWNER, grantId, expired: '0', ...rest };
  };
  /** From one grant to the other. */
  const shift = (credits: number) =>
    pool.query(
      `UPDATE credit_grants
          SET remaining = remaining + $1::numeric * CASE id WHEN 'grant_b' THEN 1 ELSE -1 END
        WHERE id <> 'grant_a'`,
      [credits],
    );
  await shift(10);
  expect(await audit()).toEqual(
    different(
      grantOf('grant_b', { granted: '40', remaining: '25', used: '25' }),
      grantOf('grant_c', { granted: '60', remaining: '25', used: '25' }),
    ),
  );
  await shift(-10);
  expect(await audit()).toEqual(SAME);

  await pool.query(`UPDATE credit_uses SET grant_id = 'nowhere' WHERE grant_id = 'grant_c'`);
  expect(await audit()).toEqual(
    different(
      grantOf('grant_c', { granted: '60', remaining: '35', used: '0' }),
      grantOf('nowhere', { granted: '0', remaining: '0', used: '25' }),
    ),
  );
});

it('an audit names a customer that has credits or has burned some, and no wallet', async () => {
  const { pool, audit } = await spentTenant();
  const others = ['cus_b', 'cus_c'];
  await pool.query(
    `INSERT INTO customers (id, environment, name, email)
     SELECT id, $1, 'B', 'b@b.c' FROM unnest($2::text[]) AS id`,
    [ENVIRONMENT, others],
  );
  // What a limit covers burns nothing, and takes no wallet.
  await burn(pool, { customerId: 'cus_c', burned: '0' });
  expect(await audit()).toEqual(SAME);
  await burn(pool, { customerId: 'cus_b', burned: '3' });
  for (const table of ['credit_ledger', 'credit_uses', 'credit_grants']) {
    await pool.query(`ALTER TABLE ${table} DROP CONSTRAINT ${table}_customer_id_fkey`);
  }
  await pool.query('DELETE FROM credit_wallets');
  const { code, differences } = await audit();
  const sums = { balance: '0', unpaid: '0', expired: '0' };
  expect([code, differences.slice(0, 2)]).toEqual([
    AUDIT_EXIT.different,
    [
      { kind: 'no_wallet', ...OWNER, ...sums, granted: '100', cost: '150' },
      { kind: 'no_wallet', ...OWNER, customerId: 'cus_b', ...sums, granted: '0', cost: '3' },
    ],
  ]);
});

it('an audit names what was burned in a period without usage, and by a customer without any', async () => {
  const { pool, tenant, audit } = await spentTenant();
  // All sums agree.
  const monthsAgo = { from: '2026-06-01T00:00:00Z', to: '2026-07-01T00:00:00Z' };
  await burn(pool, { ...monthsAgo, customerId: CUSTOMER, burned: '4' });
  await pool.query(`UPDATE credit_uses SET amount = amount + 4 WHERE grant_id = ''`);
  await pool.query('UPDATE credit_wallets SET unpaid = unpaid + 4');
  await pool.query(
    `UPDATE credit_ledger SET unpaid = unpaid + 4
      WHERE id = (SELECT max(id) FROM credit_ledger WHERE type = 'burn')`,
  );
  await pool.query(
    `INSERT INTO customers (id, environment, name, email) VALUES ('cus_b', $1, 'B', 'b@b.c')`,
    [ENVIRONMENT],
  );
  await pool.query(`INSERT INTO credit_wallets VALUES ('cus_b', $1, 0, 3)`, [ENVIRONMENT]);
  await burn(pool, { customerId: 'cus_b', burned: '3' });
  await pool.query(`INSERT INTO credit_uses VALUES ($1, 'cus_b', $2, '', 3)`, [ENVIRONMENT, METER]);
  await pool.query(
    `INSERT INTO credit_ledger (environment, customer_id, type, amount, unpaid, meter_key, period_start,
                                burn_hour, created_at, updated_at)
     VALUES ($1, 'cus_b', 'burn', 0, 3, $2, '2026-11-01', '2026-11-02', now(), now())`,
    [ENVIRONMENT, METER],
  );
  const found = { kind: 'cost', ...OWNER, meterKey: METER, cost: '0' };
  expect(await audit()).toEqual(
    different(
      { ...found, periodStart: '2026-06-01T00:00:00.000Z', settled: '4' },
      { ...found, customerId: 'cus_b', periodStart: '2026-11-01T00:00:00.000Z', settled: '3' },
    ),
  );
  await expect.poll(() => tenant.wallet(), WAIT).toEqual({ balance: '0', unpaid: '50' });
  const left = async () => (await pool.query('SELECT FROM settlement_marks')).rowCount;
  await expect.poll(left, WAIT).toBe(0);
  expect(await audit()).toEqual(SAME);
});

type Pool = LoadStores['pool'];

/** One that was granted 100, has used what costs 150, and is settled. */
async function spentTenant() {
  const { stores, tenant } = await openTenant();
  const { pool } = stores;
  await tenant.rate(1, 0, '2');
  await tenant.grant('100');
  await enterGrants(pool, ['grant_a']);
  start(stores);
  await tenant.use({ value: '70' }, { value: '5', occurredAtMs: TEST_NOW_MS - 40 * 86_400_000 });
  expect(await tenant.wallet()).toEqual({ balance: '0', unpaid: '50' });
  return {
    pool,
    tenant,
    async audit() {
      const { code, differences } = await audit(stores);
      return { code, differences };
    },
  };
}

async function enterGrants(pool: Pool, ids: string[]): Promise<void> {
  await pool.query(
    `INSERT INTO credit_ledger (environment, customer_id, type, amount, unpaid, grant_id, created_at,
                                updated_at)
     SELECT environment, customer_id, 'grant', amount, 0, id, now(), now() FROM credit_grants
      WHERE id = ANY ($1)`,
    [ids],
  );
}

/** As if a settlement had burned so much. */
async function burn(
  pool: Pool,
  burnt: { customerId: string; burned: string; from?: string; to?: string },
): Promise<void> {
  const { customerId, burned, from = '2026-11-02T00:00:00Z', to = '2026-11-03T00:00:00Z' } = burnt;
  await pool.query(
    `INSERT INTO credit_burns (environment, customer_id, meter_key, span_from, span_to, version, label,
                               burned)
     VALUES ($1, $2, $3, $4, $5, 1, '', $6)`,
    [ENVIRONMENT, customerId, METER, from, to, burned],
  );
}
