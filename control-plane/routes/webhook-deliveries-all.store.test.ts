import { describe, expect, it } from 'vitest';
import { createRandom } from '../../tests/support/random.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { at, startEndpoint } from './endpoint-under-test.ts';

/*
 * Deliveries of all endpoints over HTTP and a real Postgres, from rows as delivery writes them.
 *
 * Breaks that it catches: a page that repeats or leaves out deliveries of one millisecond; `to` inclusive;
 * another environment's deliveries; a filter that is ignored; a plan that reads them all.
 */
const PATH = '/api/v1/webhooks/deliveries';
const TYPES = ['plan.created', 'customer.created', 'usage.threshold'];
const STATES = ['succeeded', 'succeeded', 'succeeded', 'failed', 'pending', 'held'];

const api = await apiOfThisFile();
const { key, environment, endpointId, newEndpoint } = await startEndpoint(api);
const endpoints = [endpointId, await newEndpoint(), await newEndpoint()];

interface Delivery {
  id: string;
  endpointId: string;
  eventType: string;
  status: string;
  createdAt: string;
}

async function insert(rows: Delivery[], ofEnvironment = environment): Promise<void> {
  const columns = [
    ofEnvironment,
    rows.map(({ id }) => id),
    rows.map((one) => one.endpointId),
    rows.map(({ eventType }) => eventType),
    rows.map(({ status }) => status),
    rows.map(({ createdAt }) => createdAt),
  ];
  await api.pool.query(
    `WITH new AS (SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
                    AS new (id, endpoint_id, type, state, at)),
     events AS (
       INSERT INTO webhook_events (id, environment, type, object_id, body, created_at, fanned_out)
       SELECT 'evt_' || id, $1, type, 'plan_x', '{}', at, true FROM new)
     INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, event_type, state, created_at)
     SELECT id, $1, endpoint_id, 'evt_' || id, type, state, at FROM new`,
    columns,
  );
}

const { below, pick } = createRandom(9);
const rows = Array.from({ length: 400 }, (_, number) => ({
  id: `dlv_${String(number).padStart(5, '0')}`,
  endpointId: pick(endpoints),
  eventType: pick(TYPES),
  status: pick(STATES),
  createdAt: at(below(60)).toISOString(),
}));
await insert(rows);

const newest = (some: Delivery[]) =>
  [...some]
    .sort((a, b) => (`${a.createdAt} ${a.id}` > `${b.createdAt} ${b.id}` ? -1 : 1))
    .map(({ id }) => id);

async function readAll(query: Record<string, string>): Promise<Delivery[]> {
  const seen: Delivery[] = [];
  let cursor: string | undefined;
  do {
    const search = new URLSearchParams({ ...query, ...(cursor ? { cursor } : {}) });
    const { status, body } = await api.call('GET', `${PATH}?${search}`, { key });
    expect(status).toBe(200);
    seen.push(...body.data);
    expect(seen.length).toBeLessThanOrEqual(rows.length);
    cursor = body.nextCursor;
  } while (cursor !== undefined);
  return seen;
}

describe('the list of all deliveries', () => {
  const [from, to] = [at(20).toISOString(), at(40).toISOString()];

  it.each<[Record<string, string>, (one: Delivery) => boolean]>([
    [{}, () => true],
    [{ status: 'failed' }, ({ status }) => status === 'failed'],
    [{ status: 'undelivered', limit: '50' }, ({ status }) => status !== 'succeeded'],
    [{ status: 'succeeded', limit: '100' }, ({ status }) => status === 'succeeded'],
    [{ type: 'usage.threshold', limit: '7' }, ({ eventType }) => eventType === 'usage.threshold'],
    [{ endpointId, limit: '13' }, (one) => one.endpointId === endpointId],
    [{ from, to }, ({ createdAt }) => from <= createdAt && createdAt < to],
    [
      { from, status: 'held', type: 'plan.created', endpointId },
      (one) =>
        from <= one.createdAt &&
        one.status === 'held' &&
        one.eventType === 'plan.created' &&
        one.endpointId === endpointId,
    ],
  ])('with %j has each once, newest first', async (query, matches) => {
    const seen = await readAll(query);
    expect(seen.map(({ id }) => id)).toEqual(newest(rows.filter(matches)));
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const one of seen) expect(one).toMatchObject(byId.get(one.id) ?? {});
  });

  it('is that of the environment of the key', async () => {
    const { live, test, workspaceId } = await api.addWorkspace();
    const [first] = rows;
    if (first) await insert([{ ...first, id: 'dlv_others' }], `${workspaceId}:live`);
    const read = async (secret: string) => (await api.call('GET', PATH, { key: secret })).body.data;
    expect(await read(live.secret)).toMatchObject([{ id: 'dlv_others' }]);
    expect(await read(test.secret)).toEqual([]);
    const foreign = await api.call('GET', `${PATH}?endpointId=${endpointId}`, { key: live.secret });
    expectRejection(foreign, 'endpoint_not_found', 'endpointId');
  });

  it('rejects what it cannot read', async () => {
    const read = (query: string) => api.call('GET', `${PATH}?${query}`, { key });
    expectRejection(await read('status=lost'), 'invalid_request', 'status');
    expectRejection(await read('type=plan.lost'), 'invalid_request', 'type');
    expectRejection(await read(`from=${to}&to=${from}`), 'invalid_request', 'to');
    expectRejection(await read('cursor=e30'), 'invalid_request', 'cursor');
    expectRejection(await read('limit=101'), 'invalid_request', 'limit');
  });

  // Red without the indices of migration 0018.
  it('reads no more than a page, whatever is filtered', async () => {
    await api.pool.query(
      `INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, event_type, state, created_at)
       SELECT 'dlv_x' || n, $1, 'we_x', 'evt_x', 'plan.updated', 'succeeded',
              $2::timestamptz + n * interval '1 s'
         FROM generate_series(100, 20000) AS n`,
      [environment, at(0)],
    );
    await api.pool.query('ANALYZE webhook_deliveries');
    for (const condition of [
      `state = 'failed'`,
      `event_type = 'usage.threshold'`,
      `environment IS NOT NULL`,
    ]) {
      const { rows: plan } = await api.pool.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM webhook_deliveries
          WHERE environment = '${environment}' AND ${condition} ORDER BY created_at DESC, id DESC LIMIT 20`,
      );
      const text = JSON.stringify(plan);
      expect(text).not.toMatch(/Rows Removed by Filter":[1-9]/);
      for (const [, read] of text.matchAll(/"Actual Rows":(\d+)/g)) expect(Number(read)).toBeLessThan(500);
    }
  });
});
