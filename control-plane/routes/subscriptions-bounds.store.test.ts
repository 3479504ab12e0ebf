import { expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * How much one customer may have.
 *
 * Mutants this suite catches: FOR SHARE in place of FOR NO KEY UPDATE in lockSubscriber (rivals pass
 * together); ended ones counted; `<=` in place of `<`; the customer left out of the count; another bound than
 * these; existing add-ons not counted where one is attached.
 */
/** Written as numbers: with the code's constants a changed bound would stay unnoticed. */
const SUBSCRIPTIONS_MAX = 100;
const ADDONS_MAX = 20;

const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

it('limits the subscriptions of a customer that have not ended, also for concurrent requests', async () => {
  const [customerId, planId] = [await made.customer(), await made.plan()];
  const first = (await made.subscribe({ customerId, planId })).body.id;
  await copySubscription(first, SUBSCRIPTIONS_MAX - 3, 'active');
  await copySubscription(first, 50, 'canceled');
  await copySubscription(first, 50, 'incomplete_expired');
  const rivals = Array.from({ length: 8 }, () => made.subscribe({ customerId, planId }));
  const responses = await Promise.all(rivals);
  expect(responses.filter(({ status }) => status === 201)).toHaveLength(2);
  for (const response of responses.filter(({ status }) => status !== 201)) {
    expectRejection(response, 'invalid_request', 'customerId');
    expect(response.text).toContain(`at most ${SUBSCRIPTIONS_MAX} subscriptions`);
  }
  expect((await made.subscribe({ planId })).status).toBe(201);
  expect((await made.cancel(first, { at: 'now' })).status).toBe(200);
  expect((await made.subscribe({ customerId, planId })).status).toBe(201);
  expectRejection(await made.subscribe({ customerId, planId }), 'invalid_request', 'customerId');
});

it('limits the add-ons of a subscription', async () => {
  const addons = [];
  while (addons.length < ADDONS_MAX) addons.push({ addonId: await made.addon(), quantity: 1 });
  const more = await made.addon();
  const tooMany = [...addons, { addonId: more, quantity: 1 }];
  expectRejection(await made.subscribe({ addons: tooMany }), 'invalid_request', 'addons');
  const { status, body } = await made.subscribe({ addons });
  expect(status).toBe(201);
  const set = (addonId: string) => {
    const params = { subscriptionId: body.id, addonId };
    return api.request('subscriptions.setAddon', { params, body: { quantity: 2 } });
  };
  expectRejection(await set(more), 'invalid_request', 'addonId');
  expect((await set(addons[0]?.addonId ?? '')).status).toBe(200);
});

async function copySubscription(id: string, count: number, status: string): Promise<void> {
  await api.pool.query(
    `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since,
                                current_period_start, current_period_end, anchor, starts_at,
                                created_at, updated_at)
     SELECT id || $3 || copy, environment, customer_id, plan_id, $3, status_since, current_period_start,
            current_period_end, anchor, starts_at, created_at, updated_at
       FROM subscriptions, generate_series(1, $2) AS copy WHERE id = $1`,
    [id, count, status],
  );
}
