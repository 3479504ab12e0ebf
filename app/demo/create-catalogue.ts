import type { Call } from './api-client.ts';
import { ADDON, FEATURES, METERS, PLANS, type PlanKey } from './catalogue.ts';

/** Creates what is sold, and returns the ids of the plans. */
export async function createCatalogue(call: Call): Promise<Map<PlanKey, string>> {
  for (const body of METERS) await call('meters.create', { body, key: `demo/meter/${body.key}` });
  for (const body of FEATURES) await call('features.create', { body, key: `demo/feature/${body.key}` });
  await createAddon(call);
  const planIds = new Map<PlanKey, string>();
  for (const { key, created, entitlements, prices, creditGrants } of PLANS) {
    const { id } = await call('createPlan', { body: created, key: `demo/plan/${key}` });
    const params = { planId: id };
    await call('plans.replaceEntitlements', { params, body: { entitlements } });
    await call('plans.replacePrices', { params, body: { prices } });
    await call('plans.replaceCreditGrants', { params, body: { creditGrants } });
    await call('plans.publish', { params });
    planIds.set(key, id);
  }
  return planIds;
}

async function createAddon(call: Call): Promise<void> {
  const { created, entitlements, prices } = ADDON;
  const { id } = await call('addons.create', { body: created, key: `demo/addon/${created.key}` });
  const params = { addonId: id };
  await call('addons.replaceEntitlements', { params, body: { entitlements } });
  await call('addons.replacePrices', { params, body: { prices } });
}
