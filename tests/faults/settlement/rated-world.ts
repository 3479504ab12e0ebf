import { type Api, callDone } from '../../support/api.ts';
import type { Random } from '../../support/random.ts';

/** Customers whose usage costs credits and is watched, all made through the public API. */
export interface RatedWorld {
  customers: RatedCustomer[];
  /** The rates of `tokens`, each from its time on. The others' never change. */
  tokenRates: Array<{ sinceMs: number; rate: string }>;
}

export interface RatedCustomer {
  id: string;
  /** From here on the subscription gives `exports` its periods and its limit. */
  subscribedMs: number;
  /** Decimal text each. */
  grants: string[];
}

/** Decimal texts. */
export const RATES = {
  tokens: '0.000000000007',
  tokensLater: '0.125',
  calls: { other: '0.003', byRegion: { eu: '0.7', us: '2' } as Record<string, string> },
  exports: '3',
};
/** Of `exports`, in each period of the subscription. */
export const LIMIT = '40';
/** Of `tokens`. */
export const BUDGET = { soft: '25.5', hard: '90' };

const CUSTOMERS = 5;
const PLAN = 'exports-plan';

export async function makeRatedWorld(api: Api): Promise<RatedWorld> {
  const meter = (body: object) => make(api, '/meters', body);
  await meter({ key: 'tokens', name: 'Tokens', aggregation: 'sum', creditRate: Number(RATES.tokens) });
  const { eu, us } = RATES.calls.byRegion;
  const rates = { eu: Number(eu), us: Number(us) };
  const byRegion = { property: 'region', rates };
  const own = { creditRate: Number(RATES.calls.other), creditRates: byRegion };
  await meter({ key: 'calls', name: 'Calls', aggregation: 'count', ...own });
  await meter({ key: 'exports', name: 'Exports', aggregation: 'sum', creditRate: Number(RATES.exports) });
  await make(api, '/features', { key: 'exports', name: 'Exports', type: 'metered', meterKey: 'exports' });
  const { id: planId } = await make(api, '/plans', { name: PLAN, productId: PLAN });
  const entitlements = [{ featureKey: 'exports', value: Number(LIMIT) }];
  await callDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
  const customers: RatedCustomer[] = [];
  for (let number = 0; number < CUSTOMERS; number++) {
    const name = `Payer ${number}`;
    const made = await make(api, '/customers', { name, email: 'payer@example.com' });
    const id = String(made.id);
    const { currentPeriodStart } = await make(api, '/subscriptions', { customerId: id, planId });
    const budget = { soft: Number(BUDGET.soft), hard: Number(BUDGET.hard) };
    await callDone(api, 'PUT', `/customers/${id}/budgets/tokens`, budget);
    customers.push({ id, subscribedMs: Date.parse(String(currentPeriodStart)), grants: [] });
  }
  return { customers, tokenRates: [{ sinceMs: 0, rate: RATES.tokens }] };
}

/** Half-way: what occurs from the change on has the new rate, however late it comes. */
export async function changeTokenRate(api: Api, { tokenRates }: RatedWorld): Promise<void> {
  const { updatedAt } = await callDone(api, 'PATCH', '/meters/tokens', {
    creditRate: Number(RATES.tokensLater),
  });
  tokenRates.push({ sinceMs: Date.parse(String(updatedAt)), rate: RATES.tokensLater });
}

/** Less than {@link SPENT_FIRST} costs. */
const GRANTED_FIRST = '1.5';
/** With this each run begins, for the first customer: whatever the seed, one wallet is depleted. */
export const SPENT_FIRST = { meterId: 'calls', properties: { region: 'us' } };

/** Before anything is used. */
export async function grantFirst(api: Api, { customers }: RatedWorld): Promise<void> {
  const [first] = customers;
  if (first) await grant(api, first, { amount: GRANTED_FIRST, priority: 0 });
}

/** From next to nothing to more than they can use. */
export const RATED_AMOUNTS = ['0.000000000001', '12.5', '90', '400', '5000'];

type Payer = Pick<RatedCustomer, 'id' | 'grants'>;

/** Some of them get something. */
export async function grantSome(
  api: Api,
  customers: readonly Payer[],
  { random, amounts }: { random: Random; amounts: readonly string[] },
): Promise<void> {
  for (const customer of customers) {
    if (random.chance(0.5)) continue;
    await grant(api, customer, { amount: random.pick(amounts), priority: random.below(3) });
  }
}

async function grant(api: Api, customer: Payer, body: { amount: string; priority: number }): Promise<void> {
  const amount = Number(body.amount);
  await make(api, `/customers/${customer.id}/credits`, { ...body, amount, reason: 'for the test' });
  customer.grants.push(body.amount);
}

type Made = Record<string, unknown>;

async function make(api: Api, path: string, body: object): Promise<Made> {
  return callDone(api, 'POST', path, body);
}
