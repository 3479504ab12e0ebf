import { afterAll, describe, expect, it } from 'vitest';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { secondControlPlaneOfThisFile } from '../entitlements/second-control-plane-under-test.ts';

/*
 * How many statements a query takes, on a control plane whose caches are empty.
 *
 * Mutants this suite catches: a loader that reads one object at a time; counters read for each customer.
 */
const CUSTOMERS = 100;
const { warehouse, reader } = await openLogAndWarehouse(afterAll);
const stores = { warehouse, logReader: reader };
const api = await apiOfThisFile(stores);
const made = customerGrantsUnderTest(api);
for (const key of ['calls', 'bytes']) {
  const meter = { key, name: key, aggregation: 'sum' };
  expect((await api.call('POST', '/api/v1/meters', { body: meter })).status).toBe(201);
}
await api.request('features.create', {
  body: { key: 'calls', name: 'c', type: 'metered', meterKey: 'calls' },
});
await api.request('features.create', {
  body: { key: 'bytes', name: 'b', type: 'metered', meterKey: 'bytes' },
});
const planId = await made.plan({ calls: 100, bytes: 5 });
for (let at = 0; at < CUSTOMERS; at += 1) await made.subscribe(await made.customer(), {}, { planId });

const QUERY = `query of($n: Int!) {
  customers(first: $n) { totalCount nodes {
    name
    subscriptions(first: 2) { totalCount nodes { status plan { name } } }
    entitlements { featureKey allowed reason limit current remaining }
    counters(first: 10) { nodes { meterId current limit } }
    credits { balance }
    budgets(first: 5) { nodes { hard } }
    overrides(first: 5) { nodes { value } }
    creditLedger(first: 5) { nodes { amount } }
  } } }`;

async function statementsOf(customers: number): Promise<{ postgres: string[]; clickhouse: string[] }> {
  const plane = await secondControlPlaneOfThisFile(api, stores);
  const response = await fetch(`http://127.0.0.1:${plane.port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${api.keys.live.secret}` },
    body: JSON.stringify({ query: QUERY, variables: { n: customers } }),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  expect(errors).toBeUndefined();
  expect(data.customers.nodes).toHaveLength(customers);
  for (const { subscriptions, entitlements, counters } of data.customers.nodes) {
    expect(subscriptions).toMatchObject({ totalCount: 1, nodes: [{ status: 'active' }] });
    expect(entitlements).toMatchObject([{ limit: '5' }, { limit: '100', remaining: '100', allowed: true }]);
    expect(counters.nodes).toMatchObject([{ meterId: 'bytes' }, { meterId: 'calls', limit: '100' }]);
  }
  // Each process stamps the first request that it sees of a workspace.
  const all = plane.statements().filter((sql) => !sql.includes('first_api_call_at'));
  const isOfClickhouse = (sql: string) => sql.includes('metergate.');
  return {
    postgres: all.filter((sql) => !isOfClickhouse(sql)),
    clickhouse: all.filter(isOfClickhouse),
  };
}

interface Data {
  customers: {
    nodes: Array<{ subscriptions: object; entitlements: object[]; counters: { nodes: object[] } }>;
  };
}

describe('a query for customers with all that belongs to them', () => {
  it('takes as many statements for 100 as for 2', async () => {
    const [few, many] = [await statementsOf(2), await statementsOf(CUSTOMERS)];
    expect(many.postgres.length).toBe(few.postgres.length);
    // Four reads of entitlements are one transaction; each list, count and loader is one statement, and one
    // says which changes of usage count.
    expect(many.postgres.filter((sql) => sql === 'a transaction')).toHaveLength(1);
    expect(many.postgres).toHaveLength(14);
    // Two meters, for the entitlements and for the counters.
    expect(many.clickhouse).toHaveLength(4);
    expect(few.clickhouse).toHaveLength(4);
  });
});
