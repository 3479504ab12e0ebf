import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { OperationId } from '../../schemas/routes.ts';
import { usageOfThisFile } from '../usage/usage-under-test.ts';
import { graphqlSchema } from './graphql-schema.ts';
import { ask, dataOf } from './graphql-under-test.ts';
import { makeTenant } from './tenant-under-test.ts';

/*
 * What a field shows, compared with what the REST API shows of the same, on a real log, Postgres and
 * warehouse.
 *
 * Mutants this suite catches: a decimal through a double; a page that repeats or leaves out rows of one time;
 * the default of a counter's consistency; an entitlement decided by the usage of another customer.
 */
const usage = await usageOfThisFile();
const { api } = usage;
const own = await makeTenant(api, 'reads', api.keys.live.secret);
await api.request('customers.update', {
  params: { customerId: own.customerId },
  body: '{"metadata":{"exact":123456789.000000000001}}',
});

/** All values of an object of the REST API, without what it leads to. */
function members(type: string): string {
  const fields = Object.values((graphqlSchema().getType(type) as GraphQLObjectType).getFields());
  const shown = fields.flatMap((field) => {
    if (field.extensions.isMember !== true) return [];
    const named = getNamedType(field.type);
    return isLeafType(named) ? [field.name] : [`${field.name} { ${members(named.name)} }`];
  });
  return shown.join(' ');
}

/** An object of the REST API as GraphQL shows it: decimals as text, and null for what is not there. */
function expectSame(graph: unknown, rest: unknown): void {
  if (Array.isArray(graph)) {
    expect(graph).toHaveLength((rest as unknown[]).length);
    for (const [at, one] of graph.entries()) expectSame(one, (rest as unknown[])[at]);
  } else if (typeof graph === 'object' && graph !== null) {
    for (const [name, value] of Object.entries(graph))
      expectSame(value, (rest as Record<string, unknown>)[name]);
  } else if (typeof graph === 'string' && typeof rest === 'number') expect(Number(graph)).toBe(rest);
  else expect(graph ?? undefined).toEqual(rest ?? undefined);
}

const LISTS: Array<[field: string, type: string, operation: OperationId]> = [
  ['customers', 'Customer', 'customers.list'],
  ['subscriptions', 'CustomerSubscription', 'subscriptions.list'],
  ['products', 'Product', 'products.list'],
  ['plans', 'Plan', 'plans.list'],
  ['features', 'Feature', 'features.list'],
  ['addons', 'Addon', 'addons.list'],
  ['meters', 'Meter', 'meters.list'],
  ['apiKeys', 'ApiKey', 'apiKeys.list'],
  ['auditLog', 'AuditEntry', 'auditLog.list'],
];

describe('a list', () => {
  it.each(LISTS)('%s has each %s as %s shows it', async (field, type, operation) => {
    const shown = await dataOf(api, `{ ${field}(first: 100) { totalCount nodes { ${members(type)} } } }`);
    const { data, total } = (await api.request(operation as 'plans.list', { query: { pageSize: 100 } })).body;
    expect(total).toBeGreaterThan(0);
    expect(shown[field].totalCount).toBe(total);
    expectSame(shown[field].nodes, data);
  });

  it('has every entry once, page by page, also those of one time', async () => {
    await api.pool.query('UPDATE customers SET created_at = now() WHERE environment = $1', [
      usage.environment,
    ]);
    for (const first of [1, 2]) {
      const ids: string[] = [];
      for (let after: string | null = null, more = true; more; ) {
        const query = `query ($first: Int, $after: String) {
          customers(first: $first, after: $after) {
            pageInfo { hasNextPage hasPreviousPage endCursor startCursor } edges { cursor node { id } } } }`;
        const { customers } = await dataOf(api, query, { variables: { first, after } });
        const { pageInfo, edges } = customers;
        expect(pageInfo.hasPreviousPage).toBe(after !== null);
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0].cursor, edges.at(-1).cursor]);
        ids.push(...edges.map(({ node }: { node: { id: string } }) => node.id));
        [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
      }
      expect(ids).toEqual([own.customerId, usage.customerId].sort().reverse());
    }
  });

  it('is filtered as the operation filters it', async () => {
    const query = `{ customers(q: "ADA") { nodes { id } } plans(status: published) { totalCount }
      subscriptions(customerId: "ada/1") { totalCount } auditLog(action: "createPlan") { totalCount } }`;
    expect(await dataOf(api, query)).toEqual({
      customers: { nodes: [{ id: usage.customerId }] },
      plans: { totalCount: 0 },
      subscriptions: { totalCount: 0 },
      auditLog: { totalCount: 1 },
    });
    const { errors } = await ask(api, '{ auditLog(from: "yesterday") { totalCount } }');
    expect(errors).toMatchObject([{ code: 'invalid_request', param: 'from', path: ['auditLog'] }]);
  });
});

describe('a customer', () => {
  const params = { customerId: own.customerId };
  const of = async (selection: string) =>
    (await dataOf(api, `{ customer(id: "${own.customerId}") { ${selection} } }`)).customer;

  it('has what the REST API shows of it', async () => {
    const shown = await of(`credits { ${members('Credits')} } budgets { nodes { ${members('Budget')} } }
      overrides { nodes { ${members('Override')} } }
      creditLedger { nodes { ${members('CreditLedgerEntry')} } }
      subscriptions { nodes { ${members('CustomerSubscription')} } }`);
    expectSame(shown.credits, (await api.request('credits.retrieve', { params })).body);
    expectSame(shown.budgets.nodes, (await api.request('budgets.list', { params })).body.data);
    expectSame(shown.overrides.nodes, (await api.request('overrides.list', { params })).body.data);
    expectSame(shown.creditLedger.nodes, (await api.request('credits.listLedger', { params })).body.data);
    const { data } = (await api.request('subscriptions.list', { query: { customerId: own.customerId } }))
      .body;
    expectSame(shown.subscriptions.nodes, data);
  });

  it('has its entitlements with the reasons of a check', async () => {
    const { entitlements } = await of(`entitlements { unlimited ${members('Entitlement')} }`);
    expect(entitlements).toMatchObject([{ featureKey: own.featureKey, allowed: true, limit: '50' }]);
    const named = [own.featureKey, 'unknown'];
    const asked = (
      await of(`entitlements(featureKeys: ${JSON.stringify(named)}) { ${members('Entitlement')} }`)
    ).entitlements;
    for (const [at, featureKey] of named.entries()) {
      const check = await api.request('entitlements.check', { params: { ...params, featureKey } });
      const { asOf, ...decision } = asked[at];
      expectSame(decision, check.body);
      expect(asOf === null).toBe(check.body.asOf === undefined);
    }
  });

  it('keeps every digit', async () => {
    const response = await api.call('POST', '/graphql', {
      body: { query: `{ customer(id: "${own.customerId}") { metadata } }` },
    });
    expect(response.text).toContain('"metadata":{"exact":123456789.000000000001}');
  });
});

describe('the catalogue', () => {
  it('has the entitlements and prices of plans, by version, and of add-ons', async () => {
    const { planId, addonId } = own;
    const later = await ask(api, `{ plan(id: "${planId}") { name prices(version: 9) { key } } }`);
    expect(later.data).toEqual({ plan: { name: own.name, prices: null } });
    expect(later.errors).toMatchObject([{ code: 'plan_not_found', path: ['plan', 'prices'] }]);
    const { plan, addon } = await dataOf(
      api,
      `{ plan(id: "${planId}") {
          entitlements { ${members('GivenEntitlement')} } prices { ${members('Price')} }
          first: prices(version: 1) { key } }
        addon(id: "${addonId}") {
          entitlements { ${members('GivenEntitlement')} } prices { ${members('Price')} } } }`,
    );
    const rest = {
      given: (await api.request('plans.retrieveEntitlements', { params: { planId } })).body.entitlements,
      prices: (await api.request('plans.retrievePrices', { params: { planId } })).body.prices,
    };
    expectSame(plan.entitlements, rest.given);
    expectSame(plan.prices, rest.prices);
    expect(plan.first).toEqual([{ key: own.name }]);
    expectSame(addon.entitlements, rest.given);
    expectSame(addon.prices, rest.prices);
  });
});

describe('usage', () => {
  const AT = { params: { customerId: usage.customerId } };
  const of = async (selection: string) =>
    (await dataOf(api, `{ customer(id: "ada/1") { ${selection} } }`)).customer;
  const withoutTime = ({ asOf, ...shown }: { asOf: string }) => {
    expect(Date.parse(asOf)).toBeGreaterThan(0);
    return shown;
  };

  it('is counted by the same periods, for all meters and for one', async () => {
    const counter = `{ ${members('Counter')} }`;
    const { counters, counter: one } = await of(
      `counters(first: 100, consistency: strong) { totalCount nodes ${counter} }
       counter(meterKey: "unique", consistency: eventual) ${counter}`,
    );
    const { data, total } = (await api.request('usage.list', { ...AT, query: { pageSize: 100 } })).body;
    expect(counters.totalCount).toBe(total);
    expect(counters.nodes.length).toBeGreaterThan(4);
    expectSame(counters.nodes.map(withoutTime), data);
    expectSame(
      withoutTime(one),
      data.find(({ meterId }) => meterId === 'unique'),
    );
    const long = await of(`counter(meterKey: "sum", at: "2001-01-01T00:00:00Z") { current periodStart }`);
    expect(long.counter).toEqual({ current: '0', periodStart: '2001-01-01T00:00:00.000Z' });
  });

  it('is broken down, with counts and totals as text', async () => {
    const { breakdown } = await of(
      `breakdown(meterKey: "sum", dimension: "region", window: all, limit: 2) { ${members('Breakdown')} }`,
    );
    const params = { ...AT.params, meterId: 'sum' };
    const query = { dimension: 'region', window: 'all', limit: 2 };
    expectSame(withoutTime(breakdown), (await api.request('usage.breakdown', { params, query })).body);
    expect(breakdown.breakdown[0]).toMatchObject({ count: expect.any(String), total: expect.any(String) });
    const { errors } = await ask(
      api,
      '{ customer(id: "ada/1") { breakdown(meterKey: "sum", dimension: "a", limit: 5000) { total } } }',
    );
    expect(errors).toMatchObject([{ code: 'invalid_request', param: 'limit' }]);
  });

  it('lists its events, page by page', async () => {
    const seen: string[] = [];
    let after = 'null';
    for (let page = 0; page < 3; page += 1) {
      const { usageEvents } = await of(
        `usageEvents(meterKey: "count", first: 40, after: ${after}) {
           asOf pageInfo { hasNextPage endCursor } nodes { ${members('UsageEvent')} } }`,
      );
      expect(usageEvents.pageInfo.hasNextPage).toBe(true);
      seen.push(...usageEvents.nodes.map(({ id }: { id: string }) => id));
      after = JSON.stringify(usageEvents.pageInfo.endCursor);
    }
    const params = { ...AT.params, meterId: 'count' };
    const { data } = (await api.request('usage.events', { params, query: { limit: 120 } })).body;
    expect(seen).toEqual(data.map(({ id }) => id));
    const foreign = '{ customer(id: "ada/1") { usageEvents(meterKey: "count", after: "zzz") { asOf } } }';
    expect((await ask(api, foreign)).errors).toMatchObject([{ code: 'invalid_request', param: 'after' }]);
    const many = JSON.stringify(Array.from({ length: 101 }, () => 'a'));
    const named = `{ customer(id: "ada/1") { entitlements(featureKeys: ${many}) { limit } } }`;
    const error = { code: 'invalid_request', param: 'featureKeys' };
    expect((await ask(api, named)).errors).toMatchObject([error]);
  });
});
