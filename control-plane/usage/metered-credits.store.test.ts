import { describe, expect, it } from 'vitest';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { usageOfThisFile } from './usage-under-test.ts';

/*
 * Decisions on a metered feature by counter, override and credits, over HTTP from a real log, Postgres and
 * ClickHouse. Nothing is settled here: a check reports the credits of the wallet.
 *
 * Mutants this suite catches: the rate of another meter; an expired grant counted; an override that leaves
 * the plan's limit in force; the unpaid rest left out.
 */
const usage = await usageOfThisFile();
const made = customerGrantsUnderTest(usage.api);
const check = (requested: number) => made.check(usage.customerId, 'counted', { requested });
await made.feature('counted', 'metered', 'count');
const override = (value: number | null) => made.override(usage.customerId, 'counted', { value });
await override(null);
const used = (await check(0)).current ?? 0;

async function rate(body: object): Promise<void> {
  const response = await usage.api.request('meters.update', { params: { meterId: 'count' }, body });
  expect(response.status).toBe(200);
}

async function grant(amount: number): Promise<string> {
  const params = { customerId: usage.customerId };
  const response = await usage.api.request('credits.grant', { params, body: { amount, reason: 'a test' } });
  expect(response.status).toBe(201);
  return response.body.id;
}

describe('a metered feature beyond its limit', () => {
  it('is limited by an override also where no subscription meters it, for the calendar month', async () => {
    expect(used).toBeGreaterThan(10);
    await override(used + 2);
    expect(await check(2)).toMatchObject({
      allowed: true,
      reasonCode: 'granted_by_override',
      sources: ['override'],
      limit: used + 2,
      current: used,
      remaining: 2,
    });
    expect((await check(3)).reasonCode).toBe('limit_reached');
    const { body } = await usage.read('count');
    expect(body).toMatchObject({ current: used, limit: used + 2 });
  });

  it('is paid by credits where its meter has a rate and they reach', async () => {
    await rate({ creditRate: 0.5 });
    expect((await check(2)).reasonCode).toBe('granted_by_override');
    expect(await check(3)).toMatchObject({ allowed: false, reasonCode: 'insufficient_credit' });
    await grant(1);
    expect(await check(4)).toMatchObject({
      allowed: true,
      reasonCode: 'granted_by_credit',
      sources: ['override', 'credit'],
      reason: expect.stringContaining(': 2 more cost 1 credits, and 1 are left.'),
    });
    expect((await check(5)).reasonCode).toBe('insufficient_credit');
    await grant(0.5);
    expect((await check(5)).reasonCode).toBe('granted_by_credit');
    const { body } = await usage.api.request('entitlements.checkMany', {
      body: {
        customerId: usage.customerId,
        features: [
          { featureKey: 'counted', requested: 5 },
          { featureKey: 'counted', requested: 6 },
        ],
      },
    });
    expect(body.data.map(({ reasonCode }) => reasonCode)).toEqual([
      'granted_by_credit',
      'insufficient_credit',
    ]);
  });

  it('uses the highest rate if all of them depend on a property', async () => {
    const rates = { property: 'region', rates: { eu: 0.1, us: 0.75 } };
    await rate({ creditRates: rates });
    expect((await check(5)).reasonCode).toBe('granted_by_credit');
    await rate({ creditRate: null });
    expect((await check(4)).reasonCode).toBe('granted_by_credit');
    expect((await check(5)).reasonCode).toBe('insufficient_credit');
    await rate({ creditRate: 0, creditRates: null });
    expect((await check(3)).reasonCode).toBe('limit_reached');
  });

  it('is not paid by what has expired, nor before an unpaid rest', async () => {
    await rate({ creditRate: 0.5 });
    expect((await check(5)).reasonCode).toBe('granted_by_credit');
    const expired = await grant(10);
    expect((await check(25)).reasonCode).toBe('granted_by_credit');
    await usage.api.pool.query(
      `UPDATE credit_grants SET expires_at = now() - interval '1 ms' WHERE id = $1`,
      [expired],
    );
    await notifyOfCredits();
    await expect
      .poll(async () => (await check(6)).reasonCode, { timeout: 20_000 })
      .toBe('insufficient_credit');
    await usage.api.pool.query('UPDATE credit_grants SET remaining = 0');
    await usage.api.pool.query('UPDATE credit_wallets SET balance = 0, unpaid = 3');
    await notifyOfCredits();
    await expect
      .poll(async () => (await check(3)).reason, { timeout: 20_000 })
      .toContain('more cost 0.5 credits, and 3 are unpaid;');
    expect((await check(3)).reasonCode).toBe('insufficient_credit');
    expect((await check(2)).reasonCode).toBe('granted_by_override');
  });
});

/** A write past the API is notified as the API notifies it. */
async function notifyOfCredits(): Promise<void> {
  const payload = JSON.stringify({ customerIds: [usage.customerId] });
  await usage.api.pool.query('SELECT pg_notify($1, $2)', [CHANNELS.credits, payload]);
}
