import { type Api, callDone } from '../../tests/support/api.ts';

export const METERS = { limited: 'calls', open: 'tokens' } as const;

/** Share of the customers by plan, in tenths, and units of the limited meter in a billing period. */
const PLANS = [
  { name: 'Starter', tenths: 6, calls: 3_000, amount: 9 },
  { name: 'Pro', tenths: 3, calls: 10_000, amount: 49 },
  { name: 'Business', tenths: 1, calls: 100_000, amount: 490 },
];

/** Two meters, of which one has a limit in each plan. Returns plan ids, one for each tenth of customers. */
export async function createCatalogue(api: Api): Promise<string[]> {
  const { limited, open } = METERS;
  const sum = { aggregation: 'sum' };
  await callDone(api, 'POST', '/meters', { ...sum, key: limited, name: 'API calls', unit: 'call' });
  await callDone(api, 'POST', '/meters', { ...sum, key: open, name: 'AI tokens', unit: 'token' });
  const metered = { key: limited, name: 'API calls', type: 'metered', meterKey: limited };
  await callDone(api, 'POST', '/features', metered);
  await callDone(api, 'POST', '/features', { key: 'seats', name: 'Seats', type: 'limit' });
  await callDone(api, 'POST', '/features', { key: 'sso', name: 'Single sign-on', type: 'boolean' });
  const tenths: string[] = [];
  for (const plan of PLANS) tenths.push(...Array<string>(plan.tenths).fill(await createPlan(api, plan)));
  return tenths;
}

async function createPlan(api: Api, { name, calls, amount }: (typeof PLANS)[number]): Promise<string> {
  const { id } = await callDone(api, 'POST', '/plans', { productId: 'platform', name });
  const entitlements = [
    { featureKey: METERS.limited, value: calls },
    { featureKey: 'seats', value: 10 },
    { featureKey: 'sso', value: true },
  ];
  await callDone(api, 'PUT', `/plans/${id}/entitlements`, { entitlements });
  const month = { currency: 'EUR', interval: 'month' };
  const perUnit = { model: 'per_unit', meterKey: METERS.limited, unitAmount: 0.002, included: calls };
  const prices = [
    { ...month, key: 'base', model: 'flat', amount },
    { ...month, key: 'calls', ...perUnit },
  ];
  await callDone(api, 'PUT', `/plans/${id}/prices`, { prices });
  await callDone(api, 'POST', `/plans/${id}/publish`);
  return String(id);
}
