import { type Call, createCall } from './call-api.ts';

/** Plans that show everything that the pricing widget knows. */

export interface Catalogue {
  call: Call;
  /** By key. */
  planIds: Record<string, string>;
}

interface PlanSpec {
  fields: object;
  prices: object[];
  values: object[];
}

const EUR = { currency: 'EUR' };
const monthly = (amount: number) => ({ ...EUR, key: 'base', interval: 'month', model: 'flat', amount });
const yearly = (amount: number) => ({ ...monthly(amount), interval: 'year' });
const CALLS = { ...EUR, key: 'calls', interval: 'month', meterKey: 'calls' };

const PLANS: PlanSpec[] = [
  {
    fields: { name: 'Starter', description: 'For a first project.', position: 1 },
    prices: [monthly(0)],
    values: [{ featureKey: 'calls', value: 1000 }, { featureKey: 'seats', value: 1 }, noSso(false)],
  },
  {
    fields: {
      name: 'Pro',
      description: 'For teams that run it in production and want room to grow.',
      position: 2,
      highlights: ['Everything in Starter', 'Support by e-mail within a day'],
      callToAction: 'Start free trial',
    },
    prices: [
      monthly(1234.5),
      yearly(12_345),
      { ...CALLS, model: 'per_unit', unitAmount: 0.00125, included: 100_000 },
    ],
    values: [{ featureKey: 'calls', value: 100_000 }, { featureKey: 'seats', value: 25 }, noSso(true)],
  },
  {
    fields: { name: 'Scale', description: 'For platforms.', position: 3, highlights: ['A named engineer'] },
    prices: [
      monthly(4900),
      yearly(49_000),
      { ...EUR, key: 'seats', interval: 'month', model: 'seat', featureKey: 'seats', unitAmount: 12 },
      {
        ...CALLS,
        ...{
          model: 'graduated',
          tiers: [
            { upTo: 1000, unitAmount: 0.002 },
            { upTo: null, unitAmount: 0.0004 },
          ],
        },
      },
    ],
    values: [{ featureKey: 'calls', value: null }, { featureKey: 'seats', value: null }, noSso(true)],
  },
];

function noSso(value: boolean): object {
  return { featureKey: 'sso', value };
}

/** Through the API, with a secret key. */
export async function makeCatalogue(origin: string, key: string): Promise<Catalogue> {
  const call = createCall(origin, key);
  await call('POST', '/meters', { key: 'calls', name: 'API calls', aggregation: 'sum', unit: 'calls' });
  for (const feature of [
    { key: 'calls', name: 'API calls', type: 'metered', meterKey: 'calls' },
    { key: 'seats', name: 'Seats', type: 'limit' },
    { key: 'sso', name: 'Single sign-on', type: 'boolean' },
  ]) {
    await call('POST', '/features', feature);
  }
  const planIds: Record<string, string> = {};
  for (const { fields, prices, values } of PLANS) {
    const plan = await call<{ id: string; key: string }>('POST', '/plans', { productId: 'api', ...fields });
    await call('PUT', `/plans/${plan.id}/prices`, { prices });
    await call('PUT', `/plans/${plan.id}/entitlements`, { entitlements: values });
    await call('POST', `/plans/${plan.id}/publish`);
    planIds[plan.key] = plan.id;
  }
  return { call, planIds };
}
