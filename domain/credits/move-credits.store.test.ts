import type { PoolClient } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { lockWaits } from '../../tests/support/lock-waits.ts';
import { creditUnits } from '../rules/credit-units.ts';
import { burnCredits } from './move-credits.ts';
import { type SeenWallet, START_MS, walletsUnderTest } from './wallets-under-test.ts';

/*
 * Credits in a real Postgres.
 *
 * Mutants that turn it red:
 * - wallets read without their lock: 'eight connections';
 * - wallets made or locked in the order in which they are named: 'in one order';
 * - a statement for each customer: 'a handful of statements';
 * - what has expired burned until its expiry is recorded: 'is not burned';
 * - a double between the burn and the wallet: 'twenty-four fraction digits';
 * - `credit.depleted` emitted for an empty wallet: 'emitted once'.
 */
it('a burn stops at zero, the rest stays unpaid, and the next grant pays it first', async () => {
  const { customers, grant, burn, wallets, pool, notified } = await walletsUnderTest();
  const [id = ''] = await customers(1);
  await grant(id, { amount: '10' });
  await burn([{ customerId: id, amount: '12.5' }]);
  expect((await wallets([id])).get(id)).toMatchObject({ balance: 0n, unpaid: creditUnits('2.5') });
  await grant(id, { amount: '2' });
  expect((await wallets([id])).get(id)).toMatchObject({ balance: 0n, unpaid: creditUnits('0.5') });
  const last = await grant(id, { amount: '3' });
  const wallet = (await wallets([id])).get(id);
  expect(wallet).toMatchObject({ balance: creditUnits('2.5'), unpaid: 0n, depletions: 1 });
  expect(wallet?.remaining.get(last)).toBe(creditUnits('2.5'));
  const { rows } = await pool.query(
    'SELECT type, trim_scale(amount) AS amount, trim_scale(unpaid) AS unpaid FROM credit_ledger ORDER BY id',
  );
  expect(rows.map(({ type, amount, unpaid }) => `${type} ${amount} ${unpaid}`)).toEqual([
    'grant 10 0',
    'burn -10 2.5',
    'grant 2 0',
    'repayment -2 -2',
    'grant 3 0',
    'repayment -0.5 -0.5',
  ]);
  expect(await notified(id)).toEqual(['credit.depleted']);
});

it('every depletion is emitted once, however much is burned of the empty wallet', async () => {
  const { customers, grant, burn, wallets } = await walletsUnderTest();
  const [id = ''] = await customers(1);
  const depletions = async () => (await wallets([id])).get(id)?.depletions;
  await burn([{ customerId: id, amount: '1' }]);
  expect(await depletions()).toBe(0);
  await grant(id, { amount: '1' });
  expect(await depletions()).toBe(0);
  await grant(id, { amount: '5' });
  await burn([
    { customerId: id, amount: '4', meterKey: 'a' },
    { customerId: id, amount: '4', meterKey: 'b' },
  ]);
  await burn([{ customerId: id, amount: '4' }]);
  expect(await depletions()).toBe(1);
});

it('what has expired is not burned, from its millisecond on and before a job removed it', async () => {
  const { customers, grant, burn, wallets, notified, pool } = await walletsUnderTest();
  const [id = '', other = ''] = await customers(2);
  for (const customerId of [id, other]) await grant(customerId, { amount: '10', expiresAtMs: START_MS + 5 });
  await burn([{ customerId: other, amount: '1' }], START_MS + 4);
  await burn([{ customerId: id, amount: '1' }], START_MS + 5);
  const seen = await wallets([id, other]);
  expect(seen.get(id)).toMatchObject({ balance: 0n, unpaid: creditUnits('1'), depletions: 1 });
  expect(seen.get(other)).toMatchObject({ balance: creditUnits('9'), unpaid: 0n });
  expect(await notified(id)).toEqual(['credit.depleted']);
  const { rows } = await pool.query(
    `SELECT actor, action, before ->> 'remaining' AS before, after ->> 'remaining' AS after FROM audit_log`,
  );
  expect(rows).toEqual([{ actor: 'clock', action: 'credits.expire', before: '10', after: '0' }]);
});

it('amounts of twenty-four fraction digits are exact', async () => {
  const { customers, grant, burn, wallets } = await walletsUnderTest();
  const [id = ''] = await customers(1);
  await grant(id, { amount: '999999999999999.999999999999' });
  const tiny = '0.000000000000000000000001';
  for (let n = 0; n < 3; n += 1) await burn([{ customerId: id, amount: tiny }]);
  const wallet = (await wallets([id])).get(id);
  expect(wallet?.balance).toBe(creditUnits('999999999999999.999999999999') - 3n);
  expect(wallet?.ledger.balance).toBe(wallet?.balance);
});

it('what one meter burns in one hour is one entry, of two hours or periods two', async () => {
  const { customers, grant, burn, wallets, pool } = await walletsUnderTest();
  const [id = ''] = await customers(1);
  await grant(id, { amount: '10' });
  const hour = 3_600_000;
  for (const atMs of [0, 1_000, hour - 1, hour]) {
    const amount = { customerId: id, amount: '1' };
    await burn([amount, { ...amount, meterKey: 'other' }], START_MS + atMs);
  }
  const { rows } = await pool.query(
    `SELECT meter_key AS meter, trim_scale(amount) AS amount, updated_at - created_at > '0' AS "hasGrown"
       FROM credit_ledger WHERE type = 'burn' ORDER BY meter_key, created_at`,
  );
  expect(rows).toEqual([
    { meter: 'calls', amount: '-3', hasGrown: true },
    { meter: 'calls', amount: '-1', hasGrown: false },
    { meter: 'other', amount: '-3', hasGrown: true },
    { meter: 'other', amount: '-1', hasGrown: false },
  ]);
  expect((await wallets([id])).get(id)?.ledger).toEqual({ balance: creditUnits('2'), unpaid: 0n });
});

it('a thousand customers burn in a handful of statements', async () => {
  const { customers, fill, pool, environment, wallets } = await walletsUnderTest();
  const ids = await customers(1_000);
  await fill(ids, { amount: '3', expiresAtMs: START_MS });
  await fill(ids, { amount: '5' });
  const burns = ids.flatMap((customerId) =>
    ['a', 'b'].map((meterKey) => ({
      environment,
      customerId,
      meterKey,
      periodStart: new Date(0),
      amount: '4',
    })),
  );
  const statements: string[] = [];
  await inTransaction(pool, (client) =>
    burnCredits(countingStatements(client, statements), { nowMs: START_MS, burns }),
  );
  expect(statements.length).toBeLessThanOrEqual(11);
  const seen = [...(await wallets(ids)).values()];
  const isRight = ({ balance, unpaid, depletions }: SeenWallet) =>
    balance === 0n && unpaid === creditUnits('3') && depletions === 1;
  expect(seen.filter(isRight)).toHaveLength(1_000);
});

it('eight connections that burn and grant at once lose nothing', async () => {
  const { customers, grant, burn, wallets } = await walletsUnderTest({ connections: 8 });
  const ids = await customers(6);
  const work = Array.from({ length: 8 }, async (_, worker) => {
    for (let round = 0; round < 12; round += 1) {
      // Each names them in an order of its own: taken in that order, locks would deadlock.
      const order = worker % 2 === 0 ? ids : [...ids].reverse();
      await burn(order.map((customerId) => ({ customerId, amount: '0.3', meterKey: `m${worker}` })));
      await grant(ids[(worker + round) % ids.length] ?? '', { amount: '1.1' });
    }
  });
  await Promise.all(work);
  const seen = [...(await wallets(ids)).values()];
  const sum = (read: (wallet: (typeof seen)[number]) => bigint) =>
    seen.reduce((total, wallet) => total + read(wallet), 0n);
  // 96 grants of 1.1, and 96 burns of 0.3 from each of six.
  expect(sum(({ balance, unpaid }) => balance - unpaid)).toBe(creditUnits('-67.2'));
  for (const { balance, unpaid, ledger } of seen) expect(ledger).toEqual({ balance, unpaid });
}, 240_000);

it.each(['made', 'locked'])('wallets are %s in one order, however they are named', async (what) => {
  const { customers, burn, pool, environment } = await walletsUnderTest();
  const [first = '', last = ''] = (await customers(2)).sort();
  const named = [last, first].map((customerId) => ({ customerId, amount: '1' }));
  if (what === 'locked') await burn(named);
  const rival = await pool.connect();
  onTestFinished(() => rival.release(true));
  const take = (customerId: string) =>
    what === 'made'
      ? rival.query('INSERT INTO credit_wallets (customer_id, environment) VALUES ($1, $2)', [
          customerId,
          environment,
        ])
      : rival.query('SELECT FROM credit_wallets WHERE customer_id = $1 FOR UPDATE', [customerId]);
  await rival.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
  await take(first);
  const burned = burn(named);
  await vi.waitFor(async () => expect(await lockWaits(pool)).toBe(1), { timeout: 20_000 });
  // The one that waits for the first has not taken the last: otherwise each would wait for the other.
  await take(last);
  await rival.query('COMMIT');
  await burned;
});

it('the customers whose credits burned are notified, in payloads that Postgres accepts', async () => {
  const { customers, burn, pool } = await walletsUnderTest();
  const ids = await customers(450);
  const listener = await pool.connect();
  const received: string[] = [];
  listener.on('notification', ({ payload }) => received.push(...JSON.parse(payload ?? '').customerIds));
  await listener.query('LISTEN metergate_credits');
  await burn(ids.map((customerId) => ({ customerId, amount: '1' })));
  await vi.waitFor(() => expect(received).toHaveLength(450), { timeout: 20_000 });
  listener.release(true);
  expect(new Set(received)).toEqual(new Set(ids));
});

function countingStatements(client: PoolClient, statements: string[]): PoolClient {
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name);
      return (text: string, values: unknown[]) => {
        statements.push(text);
        return target.query(text, values);
      };
    },
  });
}
