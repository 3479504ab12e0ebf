import { expect, it } from 'vitest';
import { usageOfThisFile } from '../usage/usage-under-test.ts';
import { ask, dataOf, expectSame, members } from './graphql-under-test.ts';
import { makeTenant } from './tenant-under-test.ts';

/*
 * Usage over all customers, levels, deliveries across endpoints and cost, compared with the REST API.
 *
 * Mutants this suite catches: a filter or the zone of time left out; the `Accept` of the query handed on, for
 * which a report becomes CSV.
 */
const usage = await usageOfThisFile();
const { api, customerId } = usage;
const own = await makeTenant(api, 'analytics', api.keys.live.secret);
const DAYS = {
  from: new Date(usage.nowMs - 90 * 86_400_000).toISOString(),
  to: new Date(usage.nowMs + 86_400_000).toISOString(),
};
const timeless = ({ asOf: _, ...shown }: Record<string, unknown>) => shown;

it("a meter's usage has the groups, buckets and filters of the report", async () => {
  const { meter } = await dataOf(
    api,
    `query ($from: String!, $to: String!) { meter(key: "sum") { usage(
       from: $from, to: $to, granularity: month, timezone: "Europe/Berlin", groupBy: ["size", "region"],
       filter: [{ name: "region", value: "eu" }], quantiles: [0.5, 0.95], order: time, limit: 3)
       { ${members('MeterUsage')} } } }`,
    { variables: DAYS, headers: { accept: 'text/csv' } },
  );
  const given = { granularity: 'month', timezone: 'Europe/Berlin', order: 'time', limit: 3 };
  const query = { ...DAYS, ...given, groupBy: 'size,region', 'filter[region]': 'eu', quantiles: '0.5,0.95' };
  const rest = await api.request('meterUsage.retrieve', { params: { meterId: 'sum' }, query });
  expect(meter.usage.data.length).toBeGreaterThan(2);
  expectSame(timeless(meter.usage), rest.body);
});

it('a filter names each property once', async () => {
  const filter = '[{ name: "region", value: "eu" }, { name: "region", value: "us" }]';
  const query = `query ($from: String!, $to: String!) { meter(key: "sum") {
    usage(from: $from, to: $to, filter: ${filter}) { total } } }`;
  const { data, errors } = await ask(api, query, { variables: DAYS });
  expect(data).toEqual({ meter: { usage: null } });
  expect(errors).toMatchObject([{ code: 'invalid_request', param: 'filter' }]);
});

it("a customer's breakdown is in the order of time, in local days and filtered", async () => {
  const { customer } = await dataOf(
    api,
    `{ customer(id: "ada/1") { breakdown(meterKey: "sum", dimension: "$day", window: month, order: time,
       fill: zero, timezone: "Asia/Kolkata", filter: [{ name: "region", value: "us" }])
       { ${members('Breakdown')} } } }`,
  );
  const given = { dimension: '$day', window: 'month', order: 'time', fill: 'zero', timezone: 'Asia/Kolkata' };
  const query = { ...given, 'filter[region]': 'us' };
  const rest = await api.request('usage.breakdown', { params: { customerId, meterId: 'sum' }, query });
  expect(customer.breakdown.breakdown.length).toBeGreaterThan(27);
  expectSame(timeless(customer.breakdown), rest.body);
});

it('deliveries of all endpoints are paged onward', async () => {
  for (let at = 0; at < 2; at += 1) {
    await api.request('webhookEndpoints.test', { params: { endpointId: own.endpointId } });
  }
  const ids: string[] = [];
  for (let after: string | null = null, more = true; more; ) {
    const { webhookDeliveries } = await dataOf(
      api,
      `query ($after: String) { webhookDeliveries(first: 2, after: $after, status: pending) {
         pageInfo { hasNextPage endCursor } nodes { id endpoint { id } } } }`,
      { variables: { after } },
    );
    const { nodes, pageInfo } = webhookDeliveries;
    for (const { id, endpoint } of nodes) {
      expect(endpoint.id).toBe(own.endpointId);
      ids.push(id);
    }
    [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  const { data } = (await api.request('webhookDeliveries.listAll', { query: { status: 'pending' } })).body;
  expect(ids).toEqual(data.map(({ id }) => id));
  expect(ids.length).toBeGreaterThan(2);
  const { errors } = await ask(api, '{ webhookDeliveries(after: "x") { nodes { id } } }');
  expect(errors).toMatchObject([{ code: 'invalid_request', param: 'cursor' }]);
});

it('levels are those of the operation', async () => {
  const { usageLevels } = await dataOf(
    api,
    `{ usageLevels(above: 0) { nodes { ${members('UsageLevel')} } } }`,
  );
  expectSame(usageLevels.nodes, (await api.request('usageLevels.list', { query: { above: 0 } })).body.data);
});

it('cost is explained line by line, of a customer and of a subscription', async () => {
  const price = { key: 'use', currency: 'EUR', interval: 'month', model: 'flat', amount: 49.5 };
  const { planId, subscriptionId } = own;
  await api.request('plans.replacePrices', { params: { planId }, body: { prices: [price] } });
  const { customer, subscription } = await dataOf(
    api,
    `{ customer(id: "${own.customerId}") { cost { ${members('CustomerCost')} } }
       subscription(id: "${subscriptionId}") { cost { ${members('SubscriptionCost')} } } }`,
  );
  const params = { customerId: own.customerId };
  expect(customer.cost.totals).toContainEqual({ currency: 'EUR', amount: '49.5' });
  expectSame(timeless(customer.cost), (await api.request('cost.ofCustomer', { params })).body);
  const ofIt = await api.request('cost.ofSubscription', { params: { subscriptionId } });
  expectSame(timeless(subscription.cost), ofIt.body);
});
