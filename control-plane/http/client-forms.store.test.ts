import { describe, expect, it } from 'vitest';
import { type Route, readsBody } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/** What clients in the field send and request, over HTTP and a real Postgres. */
const CUSTOMERS = '/api/v1/customers';
const METERS = '/api/v1/meters';
const SUBSCRIPTIONS = '/api/v1/subscriptions';
const IN_TEXT = { prefer: 'numbers=text' };

const api = await apiOfThisFile();

describe('a query parameter that is not known', () => {
  const isPage = ({ method, path }: Route) => method === 'GET' && /^\/(docs|console|graphql)\b/.test(path);
  const exempt = (route: Route) => route.fromBrowser || route.deprecated || isPage(route);

  /** Red when an operation reads its query differently, or not at all. */
  it.each(
    Object.entries<Route>(ROUTES).filter(
      ([, route]) => route.plane === 'control' && route.access !== 'signature',
    ),
  )('is rejected by %s, which lists those that it knows', async (_, route) => {
    const path = route.path.replace(/\{\w+\}/g, 'nothing');
    const sent = readsBody(route) ? { body: route.example ?? {} } : {};
    const response = await api.call(route.method, `${path}?utm_source=x&frm=2026-11-01`, sent);
    if (exempt(route)) return expect(response.body?.error?.param).not.toBe('frm');
    expectRejection(response, 'invalid_request', 'frm');
    const known = Object.entries<{ type?: string }>(route.query.properties).map(([name, { type }]) =>
      type === 'object' ? `\`${name}[…]\`` : `\`${name}\``,
    );
    expect(response.body.error.message).toContain(known.length === 0 ? 'has none' : known.join(', '));
  });

  it('gets a hint with its right name', async () => {
    const { body } = await api.call('GET', `${METERS}?pagesize=5`);
    expect(body.error.message).toContain('Did you mean `pageSize`?');
  });
});

describe('a body', () => {
  it('that is no JSON is rejected with its byte offset, behind a byte order mark too', async () => {
    for (const mark of ['', '\ufeff']) {
      const text = `${mark}{"name":"Zoë","email":"z@example.com","metadata":{"n":NaN}}`;
      const response = await api.call('POST', CUSTOMERS, { body: text });
      expectRejection(response, 'invalid_json');
      const at = Buffer.from(text).indexOf('NaN');
      expect(response.body.error.message).toBe(
        `The body is not valid JSON at byte offset ${at}: unexpected \`NaN\`.`,
      );
    }
  });

  it('may begin with a byte order mark, and have null for what it does not set', async () => {
    const sent = '{"name":"Ada","email":"a@example.com","externalId":null,"metadata":{"a":null,"n":0.10}}';
    const headers = { 'idempotency-key': 'marked' };
    const made = await api.call('POST', CUSTOMERS, { body: `\ufeff${sent}`, headers });
    expect([made.status, made.body.metadata, made.body.externalId]).toEqual([201, { n: 0.1 }, undefined]);
    // The same content in another form is the same request.
    const again = await api.call('POST', CUSTOMERS, {
      body: { name: 'Ada', email: 'a@example.com', metadata: { n: 0.1 } },
      headers,
    });
    expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', made.body]);
  });

  it('gets a hint for a misspelt field, whether it is missing or rejected', async () => {
    const missing = await api.call('POST', SUBSCRIPTIONS, { body: { customer_id: 'a', planId: 'b' } });
    expectRejection(missing, 'invalid_request', 'customerId');
    expect(missing.body.error.message).toBe(
      '`customerId` is required. The field `customer_id` is not known. Did you mean `customerId`?',
    );
    // Also when the cause is not the missing field.
    expect(missing.headers['x-ignored-fields']).toBe('customer_id');
    const named = await api.call('POST', CUSTOMERS, { body: { full_name: 'Ada', email: 'a@example.com' } });
    expectRejection(named, 'invalid_request', 'name');
    expect(named.body.error.message).toBe(
      '`name` is required. The field `full_name` is not known. Did you mean `name`?',
    );
    const other = await api.call('POST', CUSTOMERS, { body: { name: 'Ada', mail_adress: 'x', emial: 7 } });
    expect(other.body.error.message).toMatch(/`email` is required\. .*Did you mean `email`\?$/);
    expect(other.headers['x-ignored-fields']).toBe('mail_adress, emial');
    const stated = await api.call('POST', SUBSCRIPTIONS, {
      body: { customerId: 'cus_unknown', planId: 'b', plan_vers: 1 },
    });
    expect([stated.status, stated.headers['x-ignored-fields']]).toEqual([404, 'plan_vers']);
    const body = { ...ROUTES['meters.create'].example, agregation: 'sum' };
    const strict = await api.call('POST', METERS, { body, headers: { prefer: 'handling=strict' } });
    expectRejection(strict, 'invalid_request', 'agregation');
    expect(strict.body.error.message).toContain('Did you mean `aggregation`?');
  });
});

describe('a timestamp', () => {
  const request = (from: string) => api.call('GET', `/api/v1/funnel?from=${from}&to=2026-11-02T00:00Z`);

  it.each([
    '2026-11-01T00:00Z',
    '2026-11-01T01:00:00+01:00',
    '2026-11-01%2001:00:00%2B0100',
    '2026-11-01+01:00:00+0100',
    '2026-11-01t00:00:00.000000000z',
  ])('of a query may be written as %s', async (from) => {
    const { status, body } = await request(from);
    expect([status, body.from]).toEqual([200, '2026-11-01T00:00:00.000Z']);
  });

  it('that is none is rejected with what is wrong with it, and the right form', async () => {
    for (const [from, fault] of [
      ['2026-11-01', 'has no time of day'],
      ['2026-11-01T00:00:00', 'has no offset from UTC'],
      ['1969-12-31T23:59:59Z', 'must be between 1970 and 2099'],
    ] as const) {
      const response = await request(from);
      expectRejection(response, 'invalid_request', 'from');
      expect(response.body.error.message).toContain(`\`from\` ${fault}`);
    }
  });

  it('of a body takes the same forms', async () => {
    const { body: customer } = await api.request('customers.create', {
      body: { name: 'T', email: 't@example.com' },
    });
    const body = { amount: 1, reason: 'x', expiresAt: '2099-01-01 01:00+0100' };
    const made = await api.request('credits.grant', { params: { customerId: customer.id }, body });
    expect([made.status, made.body?.expiresAt]).toEqual([201, '2099-01-01T00:00:00.000Z']);
  });
});

/** Each response is checked against its schema, with every decimal as a string (api-under-test.ts). */
describe('Prefer: numbers=text', () => {
  it('returns every decimal as a string, and a replay in the requested form', async () => {
    const meter = { key: 'texts', name: 'Texts', aggregation: 'sum', creditRate: 0.000000000001 };
    const rated = { ...meter, creditRates: { property: 'p', rates: { eu: 123456789 } } };
    const body = JSON.stringify(rated).replace('123456789', '123456789.000000000001');
    const headers = { 'idempotency-key': 'texts' };
    const made = await api.call('POST', METERS, { body, headers: { ...headers, ...IN_TEXT } });
    expect([made.status, made.headers['preference-applied']]).toEqual([201, 'numbers=text']);
    expect(made.body).toMatchObject({
      creditRate: '0.000000000001',
      creditRates: { rates: { eu: '123456789.000000000001' } },
    });
    const plain = await api.call('POST', METERS, { body, headers });
    expect([plain.headers['idempotent-replayed'], plain.text]).toEqual([
      'true',
      expect.stringContaining('"eu":123456789.000000000001'),
    ]);
    const again = await api.call('POST', METERS, { body, headers: { ...headers, ...IN_TEXT } });
    expect([again.headers['idempotent-replayed'], again.body]).toEqual(['true', made.body]);
  });

  it('is read along with other preferences, from one header or several', async () => {
    const body = { ...ROUTES['meters.create'].example, key: 'several', colour: 1 };
    const both = { prefer: 'handling=strict, numbers=text' };
    const rejected = await api.call('POST', METERS, { body, headers: both });
    expectRejection(rejected, 'invalid_request', 'colour');
    expect(rejected.headers['preference-applied']).toBe('handling=strict, numbers=text');
    const listed = await fetch(`${api.origin}${METERS}`, {
      headers: [
        ['authorization', `Bearer ${api.keys.live.secret}`],
        ['prefer', 'handling=strict'],
        ['prefer', 'numbers=text'],
      ],
    });
    const { total, data } = (await listed.json()) as {
      total: unknown;
      data: Array<{ creditRate?: unknown }>;
    };
    expect([typeof total, typeof data.at(-1)?.creditRate]).toEqual(['number', 'string']);
    expect(listed.headers.get('preference-applied')).toBe('numbers=text');
  });

  it('leaves the ETag that of the object, which either form may send back', async () => {
    const [plain, text] = await Promise.all(
      [{}, IN_TEXT].map((headers) => api.call('GET', `${METERS}/texts`, { headers })),
    );
    expect(text?.headers.etag).toBe(plain?.headers.etag);
    const headers = { ...IN_TEXT, 'if-match': String(text?.headers.etag) };
    const changed = await api.call('PATCH', `${METERS}/texts`, { body: { creditRate: 2.5 }, headers });
    expect([changed.status, changed.body.creditRate]).toEqual([200, '2.5']);
  });
});
