import { describe, expect, it } from 'vitest';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { start } from '../aggregator-under-test.ts';
import { CUSTOMER, openTenant } from './settlement-under-test.ts';

const DAY_MS = 86_400_000;

describe('usage of a meter with a rate', () => {
  it('burns credits to the last decimal, whenever it occurred and at the rate of that time', async () => {
    const { stores, tenant } = await openTenant();
    const changedMs = TEST_NOW_MS - 1_000_000;
    await tenant.rate(1, 0, '0.000000000003');
    await tenant.rate(2, changedMs, '2');
    await tenant.grant('1000');
    start(stores);
    await tenant.use(
      { value: '1.000000000001', occurredAtMs: changedMs - 1 },
      { value: '10', occurredAtMs: changedMs },
    );
    expect(await tenant.wallet()).toEqual({ balance: '979.999999999996999999999997', unpaid: '0' });
    // Late, of the month before.
    await tenant.use({ value: '1000000000000', occurredAtMs: TEST_NOW_MS - 40 * DAY_MS });
    expect(await tenant.wallet()).toEqual({ balance: '976.999999999996999999999997', unpaid: '0' });
    await tenant.use({ value: '500', occurredAtMs: TEST_NOW_MS });
    expect(await tenant.wallet()).toEqual({ balance: '0', unpaid: '23.000000000003000000000003' });
    expect(await tenant.notified('credit.depleted')).toEqual([{ customerId: CUSTOMER, balance: 0 }]);
  });

  it('burns what is beyond the limit only, and what occurred before the subscription once', async () => {
    const { stores, tenant } = await openTenant();
    const sinceMs = TEST_NOW_MS - 600_000;
    await tenant.rate(1, 0, '2');
    await tenant.grant('100');
    start(stores);
    await tenant.use({ value: '3', occurredAtMs: sinceMs - 1 }, { value: '4', occurredAtMs: sinceMs });
    expect(await tenant.wallet()).toMatchObject({ balance: '86' });
    await tenant.limit('10', sinceMs);
    await tenant.use({ value: '5', occurredAtMs: sinceMs + 1 });
    expect(await tenant.wallet()).toMatchObject({ balance: '94' });
    await tenant.use({ value: '7', occurredAtMs: sinceMs + 2 });
    // 3 without a limit, then 16 used and 10 of them free.
    expect(await tenant.wallet()).toMatchObject({ balance: '82' });
  });

  // Red when credits are burned by the limit of now: 4 and 14 of 5000 burn, then everything.
  it('follows the limits that held when it occurred, whatever they become later', async () => {
    const { stores, tenant } = await openTenant();
    const at = (minute: number) => TEST_NOW_MS - 3_600_000 + minute * 60_000;
    await tenant.rate(1, 0, '1');
    await tenant.grant('5000');
    await tenant.limit('1000', at(0));
    start(stores);
    const use = (value: string, minute: number) => tenant.use({ value, occurredAtMs: at(minute) });
    const balance = async () => (await tenant.wallet()).balance;
    await use('900', 1);
    expect(await balance()).toBe('5000');
    await tenant.limit('400', at(10));
    await use('50', 11);
    // Beyond the new limit, all of it; what was covered stays covered.
    expect(await balance()).toBe('4950');
    await tenant.limit('2000', at(20));
    await use('1000', 21);
    expect(await balance()).toBe('4950');
    await tenant.limit(null, at(30));
    await use('1000', 31);
    expect(await balance()).toBe('4950');
    await tenant.limit(undefined, at(40));
    await use('10', 41);
    expect(await balance()).toBe('4940');
    // Late: of 1100 the limit of that time covers 1000, and 2150 are now used by the end of the one of 2000.
    await use('200', 5);
    expect(await balance()).toBe('4690');
    expect((await stores.pool.query('SELECT sum(amount) AS amount FROM credit_uses')).rows[0].amount).toBe(
      '310',
    );
  });

  it('that is corrected gives back what it burned, in one batch or in several', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '1');
    await tenant.grant('100');
    start(stores);
    await tenant.use({ value: '50' }, { value: '-50' });
    expect(await tenant.wallet()).toEqual({ balance: '100', unpaid: '0' });
    await tenant.use({ value: '150' });
    expect(await tenant.wallet()).toEqual({ balance: '0', unpaid: '50' });
    await tenant.use({ value: '-30' });
    expect(await tenant.wallet()).toEqual({ balance: '0', unpaid: '20' });
    await tenant.use({ value: '-120' });
    expect(await tenant.wallet()).toEqual({ balance: '100', unpaid: '0' });
    const { rows } = await stores.pool.query(
      `SELECT type, trim_scale(amount) AS amount, trim_scale(unpaid) AS unpaid
         FROM credit_ledger ORDER BY id`,
    );
    expect(rows).toEqual([
      { type: 'burn', amount: '-100', unpaid: '50' },
      { type: 'reversal', amount: '100', unpaid: '-50' },
    ]);
  });

  it('takes the rates of a property by its value, and back', async () => {
    const { stores, tenant } = await openTenant();
    await tenant.rate(1, 0, '1', { property: 'region', rates: { eu: '10', '1': '100' } });
    await tenant.grant('1000');
    start(stores);
    await tenant.use(
      { value: '1', properties: { region: 'eu' } },
      { value: '2', properties: { region: '\u0000n1' } },
      { value: '3', properties: { region: 'us' } },
      { value: '4', occurredAtMs: TEST_NOW_MS - 3 * DAY_MS },
    );
    expect(await tenant.wallet()).toMatchObject({ balance: '783' });
    await tenant.use({ value: '1', properties: { region: 'eu' }, occurredAtMs: TEST_NOW_MS - 3 * DAY_MS });
    expect(await tenant.wallet()).toMatchObject({ balance: '773' });
    await tenant.use({ value: '-2', properties: { region: 'eu' } });
    expect(await tenant.wallet()).toMatchObject({ balance: '793' });
  });
});
