import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { fanoutJobs } from '../entitlements/changes/changes-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { readMarks, readSizedMark } from './grant-versions.ts';
import { lockNotified } from './notified-entitlements.ts';

/*
 * The mark is the fallback for lost notifications: every kind of change must change it. Mutants this suite
 * catches: any part of the mark left out; another environment's customer found; the bound not kept.
 */
const api = await apiOfThisFile();
const made = customerGrantsUnderTest(api);
const { environment } = api;
await made.features({ sso: 'boolean', seats: 'limit' });
await made.meteredFeature('calls');

async function markOf(customerId: string): Promise<string> {
  const [one] = await readMarks(api.pool, [{ environment, customerId }]);
  return one?.mark ?? 'none';
}

describe("a customer's mark", () => {
  it('stays where nothing changed, and is the same by either way to read it', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true });
    const mark = await markOf(customerId);
    expect(await markOf(customerId)).toBe(mark);
    await made.subscribe(await made.customer(), {}, { planId: await planOf(customerId) });
    expect(await markOf(customerId)).toBe(mark);
    const sized = await readSizedMark(api.pool, environment, { customer: customerId, grantsMax: 10 });
    expect(sized).toMatchObject({ customerId, mark });
  });

  it('is another one after every kind of change', async () => {
    const customerId = await made.customer();
    const params = { customerId };
    const addonId = await made.addon('more-seats', { seats: 1 });
    let subscriptionId = '';
    let planId = '';
    const changes: Record<string, () => Promise<unknown>> = {
      'its own row': () => api.request('customers.update', { params, body: { externalId: 'marked' } }),
      'a subscription': async () => {
        planId = await made.plan({ seats: 1 });
        subscriptionId = await made.subscribe(customerId, {}, { planId });
      },
      'an add-on': () =>
        api.request('subscriptions.setAddon', { params: { subscriptionId, addonId }, body: { quantity: 2 } }),
      'a status': () => made.change(subscriptionId, { status: 'past_due' }),
      'its plan': () => made.giveInstead(planId, { seats: 2 }),
      "the workspace's grace": () => api.request('workspace.update', { body: { pastDueGraceDays: 3 } }),
      'an override': () =>
        api.request('overrides.put', { params: { customerId, featureKey: 'sso' }, body: { value: true } }),
      credits: () => api.request('credits.grant', { params, body: { amount: 5, reason: 'gift' } }),
      'an archival': () => api.request('customers.archive', { params }),
    };
    for (const [what, change] of Object.entries(changes)) {
      const before = await markOf(customerId);
      await change();
      expect([what, (await markOf(customerId)) !== before]).toEqual([what, true]);
    }
  });

  it('is another one once the turn of a change of many has given a meter its periods', async () => {
    const [customerId, planId] = [await made.customer(), await made.plan({ seats: 1 })];
    await made.subscribe(customerId, {}, { planId });
    let before = '';
    await inTransaction(api.pool, async (db) => {
      await lockNotified(db, environment, [customerId]);
      await made.giveInstead(planId, { seats: 1, calls: 5 });
      before = await markOf(customerId);
    });
    await expect.poll(() => fanoutJobs(api.pool), { interval: 20, timeout: 20_000 }).toBe(0);
    expect(await markOf(customerId)).not.toBe(before);
    const mark = await markOf(customerId);
    // Where the change that was due changes nothing the mark stays, except for the catalogue's own version.
    await made.giveInstead(planId, { seats: 1, calls: 5 });
    await expect.poll(() => fanoutJobs(api.pool), { interval: 20, timeout: 20_000 }).toBe(0);
    expect(await markOf(customerId)).toBe(mark);
  });

  it('is not found in another environment', async () => {
    const customerId = await made.customer();
    const other = `${api.keys.workspaceId}:test`;
    expect(await readMarks(api.pool, [{ environment: other, customerId }])).toEqual([]);
    expect(await readSizedMark(api.pool, other, { customer: customerId, grantsMax: 1 })).toBeUndefined();
  });
});

it('counts the grants of a customer up to a bound', async () => {
  const customerId = await made.customer();
  const grants = async (grantsMax: number) =>
    (await readSizedMark(api.pool, environment, { customer: customerId, grantsMax }))?.grants;
  expect(await grants(10)).toBe(0);
  await made.subscribe(customerId, { sso: true, seats: 1 });
  expect(await grants(10)).toBe(2);
  expect(await grants(1)).toBe(2);
  await made.subscribe(customerId, {});
  expect(await grants(10)).toBe(3);
});

async function planOf(customerId: string): Promise<string> {
  const { rows } = await inTransaction(api.pool, (client) =>
    client.query<{ id: string }>('SELECT plan_id AS id FROM subscriptions WHERE customer_id = $1', [
      customerId,
    ]),
  );
  return rows[0]?.id ?? '';
}
