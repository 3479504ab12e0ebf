import { describe, expect, it } from 'vitest';
import { API_BASE } from '../../schemas/route.ts';
import {
  type ApiResponse,
  apiOfThisFile,
  apiOfThisTest,
  type CallOptions,
  expectRejection,
} from '../api-under-test.ts';

/*
 * What a browser needs of the funnel: CORS, beacons, the key in the address, a limit.
 *
 * Mutants this suite catches: CORS headers set when the handler is done; the key in the address accepted for
 * every operation, or a secret one; text/plain accepted for every operation; one bucket for all keys.
 */
const PATH = `${API_BASE}/events/funnel`;
const ORIGIN = 'https://shop.example';
const EVENT = JSON.stringify({ event: 'widget_view', sessionId: 's' });

const clock = { ms: 0, nowMs: Date.now, monotonicMs: () => clock.ms };

const rateLimits = { publishable: { perSecond: 0.5, burst: 20 }, secret: { perSecond: 10, burst: 40 } };
const api = await apiOfThisFile(undefined, { clock, rateLimits });

/** As a page posts it. */
function post(options: CallOptions = {}, search = ''): Promise<ApiResponse> {
  clock.ms += 60_000;
  const headers = { origin: ORIGIN, ...options.headers };
  return api.call('POST', `${PATH}${search}`, { body: EVENT, key: undefined, ...options, headers });
}

const beacon = { 'content-type': 'text/plain;charset=UTF-8' };

function expectReadable({ headers }: ApiResponse): void {
  expect(headers).toMatchObject({
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  });
  const readable = String(headers['access-control-expose-headers']).split(', ');
  expect(readable).toEqual(
    expect.arrayContaining(['X-Request-Id', 'X-Item-Errors', 'X-Ignored-Fields', 'Preference-Applied']),
  );
}

describe('a page of another origin', () => {
  it('gets a preflight response, without a key', async () => {
    const requested = 'authorization,content-type,idempotency-key,x-api-key,x-request-id';
    const response = await api.call('OPTIONS', PATH, {
      key: undefined,
      headers: {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': requested,
      },
    });
    expect([response.status, response.text]).toEqual([204, '']);
    expectReadable(response);
    expect(response.headers['access-control-allow-methods']).toContain('POST');
    const allowed = String(response.headers['access-control-allow-headers']).toLowerCase().split(', ');
    expect(allowed).toEqual(expect.arrayContaining(requested.split(',')));
    expect(response.headers['access-control-max-age']).toBe('86400');
  });

  it('may read every response: success, and each rejection', async () => {
    const key = api.keys.live.publishable;
    const responses: Array<[number, ApiResponse]> = [
      [201, await post({ key })],
      [401, await post()],
      [401, await post({ key: 'pk_live_wrong' })],
      [415, await post({ key, headers: { 'content-type': 'text/html' } })],
      [413, await post({ key, body: ' '.repeat(2 ** 20 + 1) })],
      [400, await post({ key, body: '{' })],
      [400, await post({ key, body: '{"event":"activated","sessionId":"s"}' })],
      [405, await api.call('PUT', PATH, { headers: { origin: ORIGIN } })],
    ];
    for (const [status, response] of responses) {
      expect(response.status).toBe(status);
      expectReadable(response);
    }
  });

  it('allows any origin if the request has none that fits in a header', async () => {
    const key = api.keys.live.publishable;
    for (const [origin, notified] of [
      ['null', 'null'],
      ['', '*'],
      [`https://${'x'.repeat(300)}`, '*'],
      ['https://ünal.example', '*'],
    ] as const) {
      const { headers } = await post({ key, headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(notified);
    }
  });

  it('gets none of it from any other operation', async () => {
    const headers = { origin: ORIGIN };
    for (const [method, path] of [
      ['GET', `${API_BASE}/customers`],
      ['GET', `${API_BASE}/funnel`],
      ['OPTIONS', `${API_BASE}/customers`],
      ['OPTIONS', `${API_BASE}/events/funnel/more`],
    ] as const) {
      const response = await api.call(method, path, { headers });
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expectRejection(await api.call('OPTIONS', `${API_BASE}/customers`), 'method_not_allowed');
  });
});

describe('a beacon', () => {
  it('is text, with the publishable key in the address', async () => {
    const response = await post({ headers: beacon }, `?key=${api.keys.live.publishable}`);
    expect([response.status, response.body.id]).toEqual([201, expect.stringMatching(/^fun_/)]);
    const { rows } = await api.pool.query('SELECT environment FROM funnel_events WHERE id = $1', [
      response.body.id,
    ]);
    expect(rows).toEqual([{ environment: api.environment }]);
  });

  it('never carries a secret key in its address, even with a header', async () => {
    const { secret, publishable } = api.keys.live;
    expectRejection(await post({}, `?key=${secret}`), 'unauthenticated');
    expectRejection(await post({ key: publishable }, `?key=%73k${secret.slice(2)}`), 'unauthenticated');
    expectRejection(await post({ key: publishable }, `?key=${api.keys.test.publishable}`), 'unauthenticated');
    expect((await post({ key: publishable }, `?key=${publishable}`)).status).toBe(201);
    for (const key of ['', 'x', 'pk_live_', '%00']) {
      const response = await post({}, `?key=${key}`);
      expect([400, 401]).toContain(response.status);
    }
  });

  it('is taken by this operation alone', async () => {
    const search = `?key=${api.keys.live.publishable}`;
    const read = await api.call('GET', `${API_BASE}/customers${search}`, { key: undefined });
    expectRejection(read, 'unauthenticated');
    const options = { body: '{}', headers: beacon };
    expectRejection(await api.call('POST', `${API_BASE}/customers`, options), 'unsupported_media_type');
  });
});

describe('a rate limit', () => {
  it('limits the rate of a publishable key, returns when to retry, and delays no other key', async () => {
    const { publishable: key } = (await api.addWorkspace()).live;
    const request = () => api.request('funnel.record', { key });
    const responses = await Promise.all(Array.from({ length: 25 }, request));
    expect(responses.filter(({ status }) => status === 201).length).toBe(20);
    const rejected = await request();
    expectRejection(rejected, 'rate_limited');
    expect(rejected.headers['retry-after']).toBe('2');
    expect((await api.request('funnel.record', { key: api.keys.test.publishable })).status).toBe(201);
    clock.ms += 2000;
    expect([(await request()).status, (await request()).status]).toEqual([201, 429]);
  });

  it('of secret keys is its own, on every operation of this plane that needs a key', async () => {
    const { secret: key } = (await api.addWorkspace()).live;
    const requests = Array.from({ length: 45 }, (_, at) =>
      at % 2 === 0 ? api.request('customers.list', { key }) : api.request('funnel.record', { key }),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBe(5);
    const rejected = await api.request('customers.create', { key, body: '{' });
    expectRejection(rejected, 'rate_limited');
    expect(rejected.headers['retry-after']).toBe('1');
    expect((await api.call('GET', '/healthz', { key })).status).toBe(200);
  });
});

it('without a configured rate a secret key is not limited', async () => {
  const unlimited = await apiOfThisTest();
  const requests = Array.from({ length: 300 }, () => unlimited.request('processor.retrieve'));
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
});
