import { expect, it, onTestFinished, vi } from 'vitest';
import { START_MS, walletsUnderTest } from '../../domain/credits/wallets-under-test.ts';
import { creditUnits } from '../../domain/rules/credit-units.ts';
import { endJob, holdJob } from '../../domain/store/job-leases.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { rejectRows } from '../http/rejection-under-test.ts';
import { CREDIT_EXPIRY, startCreditExpiry } from './credit-expiry.ts';

/*
 * The job that takes expired credits out of wallets, over a real Postgres, with a clock that does not
 * advance.
 *
 * Mutants this suite catches: a process that continues without the lease; a pass that ends with the wallet
 * that fails; grants that expired together taken out one process each; the next time not checked; a pass that
 * ends with the wallet that takes too long, or tries it first; one that continues without its connection.
 */
const WAIT = { timeout: 10_000, interval: 20 };

async function expiryUnderTest() {
  const under = await walletsUnderTest();
  const clock = {
    ms: START_MS,
    aheadMs: 0,
    nowMs: () => clock.ms,
    monotonicMs: () => clock.aheadMs,
  };
  return {
    ...under,
    clock,
    /** Of one more process. */
    run(owner: string) {
      const job = startCreditExpiry({ pool: under.pool, clock, log: SILENT }, { owner, everyMs: 20 });
      onTestFinished(() => job.close());
      return job;
    },
    /** From now on writes of this customer's wallet fail. */
    reject: (id: string | undefined, how: string) =>
      rejectRows(under.pool, { write: 'UPDATE ON credit_wallets', when: `new.customer_id = '${id}'`, how }),
    async expiries(): Promise<number> {
      const { rows } = await under.pool.query(`SELECT count(*) FROM credit_ledger WHERE type = 'expiry'`);
      return rows[0].count;
    },
  };
}

it('takes out what has expired, with its entries, and notifies customers with nothing left', async () => {
  const { customers, grant, run, clock, wallets, notified, pool, expiries } = await expiryUnderTest();
  const [id = '', other = ''] = await customers(2);
  const spent = await grant(id, { amount: '5', expiresAtMs: START_MS + 1_000 });
  await grant(other, { amount: '5', expiresAtMs: START_MS + 1_000 });
  await grant(other, { amount: '7', expiresAtMs: START_MS + 1_001 });
  clock.ms = START_MS + 999;
  run('one');
  await vi.waitFor(async () => expect((await pool.query('SELECT FROM job_leases')).rowCount).toBe(1), WAIT);
  expect(await expiries()).toBe(0);
  clock.ms = START_MS + 1_000;
  await vi.waitFor(async () => expect(await expiries()).toBe(2), WAIT);
  const seen = await wallets([id, other]);
  expect(seen.get(id)).toMatchObject({ balance: 0n, ledger: { balance: 0n }, depletions: 1 });
  expect(seen.get(other)).toMatchObject({ balance: creditUnits('7'), depletions: 0 });
  expect(await notified(id)).toEqual(['credit.depleted']);
  const { rows } = await pool.query('SELECT actor, action, object_id FROM audit_log WHERE object_id = $1', [
    spent,
  ]);
  expect(rows).toEqual([{ actor: 'clock', action: 'credits.expire', object_id: spent }]);
});

it('of several processes each grant is taken out by one, once, over several chunks', async () => {
  const { customers, fill, run, clock, expiries, pool } = await expiryUnderTest();
  await fill(await customers(450), { amount: '1', expiresAtMs: START_MS + 1_000 });
  clock.ms = START_MS + 2_000;
  const [first, second] = [run('one'), run('two')];
  await vi.waitFor(async () => expect(await expiries()).toBe(450), WAIT);
  await Promise.all([first.close(), second.close()]);
  const { rows } = await pool.query(
    `SELECT count(*) AS notified, count(DISTINCT object_id) AS customers FROM webhook_events`,
  );
  expect(rows).toEqual([{ notified: 450, customers: 450 }]);
});

it('does nothing while another process has the lease, and begins when that ends', async () => {
  const { customers, grant, run, clock, expiries, pool } = await expiryUnderTest();
  const [id = ''] = await customers(1);
  await grant(id, { amount: '1', expiresAtMs: START_MS + 1_000 });
  await holdJob(pool, CREDIT_EXPIRY, 'other', 60_000);
  clock.ms = START_MS + 1_000;
  const job = run('one');
  job.wake();
  await job.close();
  expect(await expiries()).toBe(0);
  run('two');
  await endJob(pool, CREDIT_EXPIRY, 'other');
  await vi.waitFor(async () => expect(await expiries()).toBe(1), WAIT);
});

it('a wallet that fails delays no other', async () => {
  const { customers, fill, run, clock, expiries, reject } = await expiryUnderTest();
  const ids = await customers(12);
  await fill(ids, { amount: '1', expiresAtMs: START_MS + 1_000 });
  await reject(ids[0], `RAISE 'no'`);
  clock.ms = START_MS + 2_000;
  run('one');
  await vi.waitFor(async () => expect(await expiries()).toBe(11), WAIT);
});

it.each(['57014', '25P03', '55P03'])(
  'a wallet that takes too long (%s) delays no other, and is tried again after them',
  async (code) => {
    const { customers, fill, run, clock, expiries, reject } = await expiryUnderTest();
    const ids = await customers(12);
    await fill(ids, { amount: '1', expiresAtMs: START_MS + 1_000 });
    const { tries, allow } = await reject(ids[0], `RAISE 'slow' USING ERRCODE = '${code}'`);
    clock.ms = START_MS + 2_000;
    run('one');
    await vi.waitFor(async () => expect(await expiries()).toBe(11), WAIT);
    // With all the others, and by itself.
    await vi.waitFor(async () => expect(await tries()).toBe(2), WAIT);
    await fill(await customers(2), { amount: '1', expiresAtMs: START_MS + 2_000 });
    await vi.waitFor(async () => expect(await expiries()).toBe(13), WAIT);
    expect(await tries()).toBe(2);
    await allow();
    clock.aheadMs = 2_000;
    await vi.waitFor(async () => expect(await expiries()).toBe(14), WAIT);
  },
);

it('a look ends with its connection, and the next one tries all again', async () => {
  const { customers, fill, run, clock, expiries, reject } = await expiryUnderTest();
  const ids = await customers(12);
  await fill(ids, { amount: '1', expiresAtMs: START_MS + 1_000 });
  const { tries, allow } = await reject(ids[0], 'PERFORM pg_terminate_backend(pg_backend_pid())');
  clock.ms = START_MS + 2_000;
  run('one');
  await vi.waitFor(async () => expect(await tries()).toBeGreaterThan(2), WAIT);
  expect(await expiries()).toBe(0);
  await allow();
  await vi.waitFor(async () => expect(await expiries()).toBe(12), WAIT);
});
