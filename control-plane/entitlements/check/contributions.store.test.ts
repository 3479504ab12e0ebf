import { expect, it } from 'vitest';
import { apiOfThisFile } from '../../api-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';

/*
 * What each source contributes to a value, over HTTP and a real Postgres: in the list, and in checks from the
 * cache and from the stores. The rule itself: domain/rules/resolve-entitlements.test.ts.
 *
 * Mutants this suite catches: contributions left out of the list, of a check from the cache or of one from
 * the stores; contributions cached across a change.
 */
const api = await apiOfThisFile();
const made = customerGrantsUnderTest(api);
await made.features({ sso: 'boolean', audit: 'boolean', seats: 'limit', storage: 'limit' });

it('is shown for every source, in the list and in a check', async () => {
  const customerId = await made.customer();
  const addonId = await made.addon('more', { seats: 2.5, sso: true, storage: 1 });
  const planId = await made.plan({ seats: 5, sso: false, storage: null });
  const fields = { planId, addons: [{ addonId, quantity: 3 }] };
  await made.subscribe(customerId, {}, fields);
  await made.subscribe(customerId, {}, fields);
  const expected: Record<string, unknown> = {
    seats: [
      { source: 'plan:plan-1', value: 5, quantity: 2 },
      { source: 'addon:more', value: 2.5, quantity: 6 },
    ],
    sso: [{ source: 'addon:more', value: true, quantity: 6 }],
    storage: [{ source: 'plan:plan-1', value: null, quantity: 2 }],
  };
  expect(await listed(customerId)).toEqual(expected);
  for (const [featureKey, contributions] of Object.entries(expected)) {
    for (const consistency of ['eventual', 'eventual', 'strong']) {
      const decision = await made.check(customerId, featureKey, { consistency });
      expect(decision.contributions).toEqual(contributions);
    }
  }
  expect(await made.check(customerId, 'audit')).not.toHaveProperty('contributions');
});

it('is an override alone where there is one, and the plan again after it', async () => {
  const customerId = await made.customer();
  await made.subscribe(customerId, { seats: 1 });
  const params = { customerId, featureKey: 'seats' };
  const ofPlan = (await listed(customerId)).seats;
  expect((await made.check(customerId, 'seats')).contributions).toEqual(ofPlan);
  await api.request('overrides.put', { params, body: { value: 40.5 } });
  const instead = [{ source: 'override', value: 40.5 }];
  expect((await made.check(customerId, 'seats')).contributions).toEqual(instead);
  expect((await listed(customerId)).seats).toEqual(instead);
  await api.request('overrides.delete', { params });
  expect((await made.check(customerId, 'seats')).contributions).toEqual(ofPlan);
});

async function listed(customerId: string): Promise<Record<string, unknown>> {
  const list: Array<{ featureKey: string; contributions?: unknown }> = await made.list(customerId);
  return Object.fromEntries(list.map(({ featureKey, contributions }) => [featureKey, contributions]));
}
