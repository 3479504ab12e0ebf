import { describe, expect, it } from 'vitest';
import { expectRejection, newCustomer } from '../api-under-test.ts';
import { costUnderTest } from '../cost/cost-under-test.ts';
import { isoText, usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * What customers cost over all of their subscriptions, and what is no question, over HTTP.
 *
 * Mutants this suite catches: the period of now for a given time; the running period of a subscription that
 * ended before it.
 */
const usage = await usageOfThisFile();
const { api, nowMs } = usage;
const EUR = { currency: 'EUR', interval: 'month', intervalCount: 1 };
const OWN = { ...EUR, interval: 'day', intervalCount: 20 };

const { at, newPlan, subscribed } = costUnderTest(usage);

describe('the cost of a customer', () => {
  it('is of the periods of now, and of none of a subscription that ended before', async () => {
    const plan = await newPlan([{ ...OWN, key: 'base', model: 'flat', amount: 49 }]);
    const { customerId } = await subscribed(plan.id);
    const past = { currentPeriodStart: isoText(at(-55)), currentPeriodEnd: isoText(at(-35)) };
    const { subscriptionId } = await subscribed(plan.id, { customerId, ...past });
    await api.request('subscriptions.cancel', { params: { subscriptionId }, body: { at: 'now' } });
    const endedAt = [subscriptionId, new Date(at(-40))];
    await api.pool.query('UPDATE subscriptions SET status_since = $2 WHERE id = $1', endedAt);
    await api.pool.query(
      'UPDATE subscription_terms SET starts_at = $2 WHERE subscription_id = $1 AND NOT is_charged',
      endedAt,
    );
    const { body } = await api.request('cost.ofCustomer', { params: { customerId } });
    expect(body).toMatchObject({ from: isoText(at(-10)), to: isoText(at(10)), lines: [{ amount: 49 }] });
    const query = { from: isoText(at(-60)), to: isoText(at(0)) };
    const all = await api.request('cost.ofCustomer', { params: { customerId }, query });
    expect(all.body.totals).toEqual([{ currency: 'EUR', amount: 98 }]);
  });

  it('without a subscription is nothing, in the month or in the time that is asked for', async () => {
    const { body } = await api.request('customers.create', { body: newCustomer() });
    const params = { customerId: body.id };
    const whole = await api.request('cost.ofCustomer', { params });
    expect(whole.body).toMatchObject({
      ...params,
      from: expect.stringMatching(/-01T00:00:00\.000Z$/),
      totals: [],
      lines: [],
    });
    const query = { from: isoText(at(-3)), to: isoText(at(-2)) };
    expect((await api.request('cost.ofCustomer', { params, query })).body).toMatchObject({
      ...query,
      lines: [],
    });
  });
});

describe('a cost that cannot be given', () => {
  it('is rejected', async () => {
    const plan = await newPlan([{ ...EUR, interval: 'day', key: 'daily', model: 'flat', amount: 1 }]);
    const start = { currentPeriodStart: isoText(at(-2_000)), currentPeriodEnd: isoText(at(10)) };
    const { subscriptionId } = await subscribed(plan.id, start);
    const params = { subscriptionId };
    const of = (query: Record<string, string>) => api.request('cost.ofSubscription', { params, query });
    expectRejection(await of({}), 'invalid_request', 'to');
    expectRejection(await of({ from: isoText(nowMs) }), 'invalid_request', 'to');
    expectRejection(await of({ to: isoText(nowMs) }), 'invalid_request', 'from');
    const reversed = { from: isoText(nowMs), to: isoText(nowMs - 1) };
    expectRejection(await of(reversed), 'invalid_request', 'to');
    const soon = { from: isoText(at(-900)), to: isoText(at(-1)) };
    expect((await of(soon)).body.lines).toHaveLength(899);
    const unknown = await api.request('cost.ofSubscription', { params: { subscriptionId: 'sub_no' } });
    expectRejection(unknown, 'subscription_not_found', 'subscriptionId');
    const missing = await api.request('cost.ofCustomer', { params: { customerId: 'no' } });
    expectRejection(missing, 'customer_not_found', 'customerId');
    const key = await api.addKey({ scopes: ['plans:read'] });
    expectRejection(await api.request('cost.ofSubscription', { params, key }), 'insufficient_scope');
  });
});
