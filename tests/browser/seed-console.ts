/** What the console shows in its tests: a small catalogue, customers, usage, an endpoint that fails. */

const DAY_MS = 86_400_000;
const NAMES = ['Aurora Labs', 'Birch & Co', 'Cobalt Systems', 'Delta Freight', 'Ember Health', 'Fjord Data'];
const REGIONS = ['eu', 'us', 'apac'];

export interface Seeded {
  /** By their external ids. */
  customers: string[];
  planId: string;
  endpointId: string;
}

type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** Through the API, with a secret key. */
export async function seedConsole(origin: string, key: string): Promise<Seeded> {
  const call = caller(origin, key);
  const endpoint = await call<{ id: string }>('POST', '/webhooks/endpoints', {
    // A port that no program listens on.
    url: 'http://127.0.0.1:9/hooks',
    events: ['*'],
  });
  await seedCatalogue(call);
  const plan = await seedPlan(call, { name: 'Pro', calls: 5_000, seats: 10, sso: true, amount: 49 });
  const small = await seedPlan(call, { name: 'Starter', calls: 1_000, seats: 2, sso: false, amount: 9 });
  const customers: string[] = [];
  const currentPeriodStart = new Date(Date.now() - 20 * DAY_MS).toISOString();
  for (const [at, name] of NAMES.entries()) {
    const externalId = name.toLowerCase().replace(/\W+/g, '-');
    await call('POST', '/customers', { name, email: `billing@${externalId}.example`, externalId });
    const subscription = { customerId: externalId, planId: at % 2 === 0 ? plan : small, currentPeriodStart };
    await call('POST', '/subscriptions', subscription);
    customers.push(externalId);
  }
  await seedDetails(call, customers[0] ?? '');
  await sendUsage(call, customers);
  return { customers, planId: plan, endpointId: endpoint.id };
}

async function seedCatalogue(call: Call): Promise<void> {
  const calls = { key: 'calls', name: 'API calls', aggregation: 'sum', unit: 'call', creditRate: 0.002 };
  await call('POST', '/meters', calls);
  await call('POST', '/meters', { key: 'storage', name: 'Storage', aggregation: 'max', unit: 'GB' });
  await call('POST', '/features', { key: 'api', name: 'API calls', type: 'metered', meterKey: 'calls' });
  await call('POST', '/features', { key: 'seats', name: 'Seats', type: 'limit' });
  await call('POST', '/features', { key: 'sso', name: 'Single sign-on', type: 'boolean' });
  await call('POST', '/features', { key: 'audit-export', name: 'Audit export', type: 'boolean' });
}

interface SeededPlan {
  name: string;
  calls: number;
  seats: number;
  sso: boolean;
  amount: number;
}

async function seedPlan(call: Call, { name, calls, seats, sso, amount }: SeededPlan): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/plans', { productId: 'platform', name });
  const entitlements = [
    { featureKey: 'api', value: calls },
    { featureKey: 'seats', value: seats },
    ...(sso ? [{ featureKey: 'sso', value: true }] : []),
  ];
  await call('PUT', `/plans/${id}/entitlements`, { entitlements });
  const month = { currency: 'EUR', interval: 'month' };
  const prices = [
    { ...month, key: 'base', model: 'flat', amount },
    { ...month, key: 'calls', model: 'per_unit', meterKey: 'calls', unitAmount: 0.0015, included: calls },
  ];
  await call('PUT', `/plans/${id}/prices`, { prices });
  await call('POST', `/plans/${id}/publish`);
  const more = entitlements.map((one) => (one.featureKey === 'seats' ? { ...one, value: seats + 5 } : one));
  await call('PUT', `/plans/${id}/entitlements`, { entitlements: more });
  return id;
}

async function seedDetails(call: Call, customerId: string): Promise<void> {
  await call('POST', `/customers/${customerId}/credits`, { amount: 250, reason: 'Welcome credits' });
  const trial = { value: true, reason: 'Trial of it' };
  await call('PUT', `/customers/${customerId}/overrides/audit-export`, trial);
  await call('PUT', `/customers/${customerId}/budgets/calls`, { soft: 8_000, hard: 9_500 });
}

/** A month of it; some customers come near their limit, some beyond. */
async function sendUsage(call: Call, customers: readonly string[]): Promise<void> {
  const events = customers.flatMap((customerId, at) =>
    Array.from({ length: 60 }, (_, turn) => ({
      idempotencyKey: `${customerId}-${turn}`,
      customerId,
      meterId: turn % 6 === 5 ? 'storage' : 'calls',
      value: turn % 6 === 5 ? 20 + turn : 60 + ((turn * 37 + at * 53) % 140),
      occurredAt: new Date(Date.now() - (turn * DAY_MS) / 2).toISOString(),
      properties: { region: REGIONS[(turn + at) % REGIONS.length] },
    })),
  );
  await call('POST', '/usage/events/batch', { events });
}

/** Calls of the API with that key. Throws for every status but success. */
export function caller(origin: string, key: string): Call {
  return async <T>(method: string, path: string, body?: unknown) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  };
}
