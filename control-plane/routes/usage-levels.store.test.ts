import { describe, expect, it } from 'vitest';
import { createRandom } from '../../tests/support/random.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * The list of levels over HTTP and a real Postgres, from rows as the settlement writes them
 * (aggregator/settle/usage-levels.whole-store.test.ts).
 *
 * Breaks that it catches: a page that repeats or leaves out entries of one share; rows of another
 * environment; rows of a period that is over; a share below `above`; the meter of another feature.
 */
const api = await apiOfThisFile();
const PATH = '/api/v1/usage/levels';
const METERS = ['calls', 'storage', 'seats'];

interface Row {
  customerId: string;
  meterId: string;
  share: number;
}

async function insert(environment: string, rows: Row[], endsInMs = 86_400_000): Promise<void> {
  await api.pool.query(
    `INSERT INTO usage_levels
     SELECT $1, customer_id, meter_key, share, share * 40, 40, NULL, now() - interval '9 days',
            now() + $5 * interval '1 ms', now() + $5 * interval '1 ms', false, now()
       FROM unnest($2::text[], $3::text[], $4::numeric[]) AS new (customer_id, meter_key, share)`,
    [
      environment,
      rows.map(({ customerId }) => customerId),
      rows.map(({ meterId }) => meterId),
      rows.map(({ share }) => share.toFixed(6)),
      endsInMs,
    ],
  );
}

for (const key of METERS)
  await api.request('meters.create', { body: { key, name: key, aggregation: 'sum' } });
for (const [key, meterKey] of [
  ['api', 'calls'],
  ['disk', 'storage'],
] as const) {
  await api.request('features.create', { body: { key, name: key, type: 'metered', meterKey } });
}
await api.request('features.create', { body: { key: 'sso', name: 'SSO', type: 'boolean' } });
const { below, pick } = createRandom(3);
const rows: Row[] = Array.from({ length: 700 }, (_, at) => ({
  customerId: `cus_${String(at % 350).padStart(4, '0')}`,
  meterId: METERS[at < 350 ? 0 : 1 + (at % 2)] ?? '',
  share: pick([0.8, 1, 1.25, below(2_000_000) / 1e6]),
}));
await insert(api.environment, rows);
await insert(api.environment, [{ customerId: 'cus_over', meterId: 'calls', share: 9 }], -1);
const other = await api.addWorkspace();
await insert(`${other.workspaceId}:live`, [{ customerId: 'cus_others', meterId: 'calls', share: 8 }]);

function expected(above: number, meterId?: string): Row[] {
  return rows
    .filter((one) => one.share >= above && (meterId === undefined || one.meterId === meterId))
    .sort(
      (a, b) => b.share - a.share || compare(a.customerId, b.customerId) || compare(a.meterId, b.meterId),
    );
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

async function readAll(query: string): Promise<Row[]> {
  const seen: Row[] = [];
  let cursor = '';
  do {
    const { status, body } = await api.call('GET', `${PATH}?${query}${cursor}`);
    expect(status).toBe(200);
    seen.push(...body.data);
    expect(seen.length).toBeLessThanOrEqual(rows.length);
    cursor = body.nextCursor ? `&cursor=${body.nextCursor}` : '';
  } while (cursor !== '');
  return seen;
}

describe('the list of levels', () => {
  it.each([
    ['limit=37', 0.8, undefined],
    ['above=0&limit=1000', 0, undefined],
    ['above=1&limit=7', 1, undefined],
    ['above=0.8000001&limit=50', 0.8000001, undefined],
    ['featureKey=api&above=0.1&limit=9', 0.1, 'calls'],
    ['featureKey=disk', 0.8, 'storage'],
  ])('with %s has every entry once, largest first', async (query, above, meterId) => {
    const seen = (await readAll(query)).map(({ customerId, meterId: meter, share }) => ({
      ...{ customerId, meterId: meter, share },
    }));
    expect(seen).toEqual(expected(above, meterId));
    expect(seen.length).toBeGreaterThan(0);
  });

  it('shows usage, limit and period', async () => {
    const [first] = (await api.call('GET', `${PATH}?limit=1`)).body.data;
    expect(first.limit).toBe(40);
    expect(first.current).toBeCloseTo(first.share * 40, 9);
    expect(Date.parse(first.periodEnd)).toBeGreaterThan(Date.now());
    expect(first).not.toHaveProperty('budget');
  });

  it('is that of the environment of the key', async () => {
    const { body } = await api.call('GET', PATH, { key: other.live.secret });
    expect(body.data).toMatchObject([{ customerId: 'cus_others' }]);
    expect((await api.call('GET', PATH, { key: other.test.secret })).body).toEqual({ data: [] });
  });

  it('rejects what it cannot read', async () => {
    const read = (query: string) => api.call('GET', `${PATH}?${query}`);
    expectRejection(await read('above=-1'), 'invalid_request', 'above');
    expectRejection(await read('above=NaN'), 'invalid_request', 'above');
    expectRejection(await read('featureKey=nothing'), 'feature_not_found', 'featureKey');
    expectRejection(await read('featureKey=sso'), 'invalid_request', 'featureKey');
    for (const position of [
      ['1', 'a'],
      ['x', 'a', 'b'],
      ['1.5', 'a', 'b'],
      {},
      ['1.000000', 'a', '\u0000'],
    ]) {
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url');
      expectRejection(await read(`cursor=${cursor}`), 'invalid_request', 'cursor');
    }
  });
});
