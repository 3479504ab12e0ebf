import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../schemas/routes.ts';
import { apiOfThisFile, expectRejection, newCustomer } from './api-under-test.ts';

/*
 * The conventions of every operation over HTTP and a real Postgres. Mutants this suite catches: two checks
 * in another order; an unexpected body that is not checked; the loops of exact-json.ts written as recursion;
 * a field's name copied into the header unescaped; the last of two values of a parameter used.
 */
const CUSTOMERS = '/api/v1/customers';
const METERS = '/api/v1/meters';

const api = await apiOfThisFile();

describe('the order of checks', () => {
  const bad = { key: 'sk_live_wrong', body: '{"name":' };

  it('names an unsupported version before anything else, in any case', async () => {
    for (const path of ['/api/v2/customers', '/api/V1/customers', '/api/v1.1/x', '/api/v2beta', '/api/v10']) {
      expectRejection(await api.call('POST', path, bad), 'unsupported_api_version');
    }
  });

  it('names an unknown path before the method and the key', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/v1',
      '/api/v1/nothing',
      '/api/v1/customers//',
      '/api/v1/Customers',
    ]) {
      expectRejection(await api.call('POST', path, bad), 'not_found');
    }
  });

  it('names a wrong method, and the right ones in Allow, before the key', async () => {
    const response = await api.call('DELETE', METERS, bad);
    expectRejection(response, 'method_not_allowed');
    expect(response.headers.allow).toBe('GET, HEAD, POST');
  });

  it('takes a concrete path for itself and not for a customer called events', async () => {
    const response = await api.call('GET', '/api/v1/usage/events/batch');
    expectRejection(response, 'method_not_allowed');
    expect(response.headers.allow).toBe('POST');
  });

  it('names the key before the media type, the scope before the body', async () => {
    const headers = { 'content-type': 'text/plain' };
    expectRejection(await api.call('POST', CUSTOMERS, { ...bad, headers }), 'unauthenticated');
    const key = api.keys.live.publishable;
    const published = await api.call('POST', CUSTOMERS, { ...bad, key, headers });
    expectRejection(published, 'publishable_key_not_allowed');
    expectRejection(await api.call('POST', CUSTOMERS, { body: '{', headers }), 'unsupported_media_type');
    // An empty value is not the same as no value: the usage endpoints reject it too.
    for (const type of [';', '; charset=utf-8']) {
      const empty = { body: '{', headers: { 'content-type': type } };
      expectRejection(await api.call('POST', CUSTOMERS, empty), 'unsupported_media_type');
    }
  });

  it('names the size before the JSON, the JSON before the fields', async () => {
    const tooLarge = await api.call('POST', CUSTOMERS, { body: `{${' '.repeat(1 << 20)}` });
    expectRejection(tooLarge, 'payload_too_large');
    expectRejection(await api.call('POST', CUSTOMERS, { body: '{"name":' }), 'invalid_json');
    const notUtf8 = await api.call('POST', CUSTOMERS, { body: Buffer.from([0x22, 0xff, 0x22]) });
    expectRejection(notUtf8, 'invalid_json');
    expectRejection(await api.call('POST', CUSTOMERS, { body: '[]' }), 'invalid_request');
    expectRejection(await api.call('POST', CUSTOMERS, { body: '' }), 'invalid_json');
  });

  it('is the same for an operation that needs no body', async () => {
    const { body: plan } = await api.request('createPlan');
    const requested = [
      ['POST', `/api/v1/plans/${plan.id}/publish`],
      ['DELETE', '/api/v1/features/nothing'],
    ] as const;
    for (const [method, path] of requested) {
      const send = (body: unknown, headers = {}) => api.call(method, path, { body, headers });
      expectRejection(await send('{}', { 'content-type': 'text/plain' }), 'unsupported_media_type');
      expectRejection(await send(' '.repeat(1_200_000)), 'payload_too_large');
      expectRejection(await send('{"a":'), 'invalid_json');
      expectRejection(await send('[]'), 'invalid_request');
      expectRejection(await send('{"a":"\\u0000"}'), 'invalid_request');
      expectRejection(await send({ a: 1 }, { prefer: 'handling=strict' }), 'invalid_request', 'a');
    }
    const path = `/api/v1/plans/${plan.id}/publish`;
    // Some clients send a form's media type by default.
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await api.call('POST', path, { body: '', headers })).status).toBe(200);
    expect((await api.call('POST', path)).status).toBe(200);
    expect((await api.call('POST', path, { body: { a: 1 } })).headers['x-ignored-fields']).toBe('a');
  });

  // Red when the connection is closed with the response: the data plane, still sending, is reset and returns
  // 503.
  it('keeps the connection after a body whose announced length was too long', async () => {
    const length = 2 ** 20 + 1;
    const head = `POST ${CUSTOMERS} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${api.keys.live.secret}\r\n`;
    const body = `Content-Length: ${length}\r\n\r\n${' '.repeat(length)}`;
    const responses = await sendRaw(`${head}${body}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`, 'alive');
    expect(responses).toContain('payload_too_large');
    expect(responses).toContain('alive');
  });

  it('rejects a body that grows beyond the limit without a length announced', async () => {
    const chunks = ['POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n'];
    chunks.push(`Authorization: Bearer ${api.keys.live.secret}\r\n\r\n`);
    for (let chunk = 0; chunk < 17; chunk += 1) chunks.push(`10000\r\n${' '.repeat(65_536)}\r\n`);
    expect(await sendRaw(chunks.join(''))).toMatch(/^HTTP\/1.1 413 [\s\S]*"payload_too_large"/);
  });

  it('returns 410 for the removed operation, after authentication and for any scope', async () => {
    const path = '/api/v1/integrations/legacy-webhooks';
    expectRejection(await api.call('GET', path, { key: undefined }), 'unauthenticated');
    const response = await api.call('GET', path, { key: await api.addKey({ scopes: [] }) });
    expectRejection(response, 'endpoint_removed');
    expect(response.body.error.details.replacement).toBe('GET /api/v1/webhooks/endpoints');
    expect(response.headers).not.toHaveProperty('deprecation');
  });
});

describe('a malformed body', () => {
  const bodyWith = (json: string) => ({ body: `{"name":"x","email":"x@example.com","more":${json}}` });

  it('is rejected for U+0000 and lone surrogates, wherever they are', async () => {
    for (const json of ['"\\u0000"', '"\\ud800"', '{"\\udc00":1}', '[[["a\\u0000b"]]]']) {
      expectRejection(await api.call('POST', CUSTOMERS, bodyWith(json)), 'invalid_request');
    }
    expectRejection(await api.call('GET', '/api/v1/usage/a%00b/c'), 'invalid_request');
    expectRejection(await api.call('GET', `${METERS}?x=%00`), 'invalid_request');
  });

  it('may be nested as deep as it is long, also where it is compared', async () => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    const headers = { 'idempotency-key': 'deep' };
    expect((await api.call('POST', CUSTOMERS, { ...bodyWith(deep), headers })).status).toBe(201);
    expect((await api.call('POST', CUSTOMERS, { ...bodyWith(`[${'0,'.repeat(400_000)}0]`) })).status).toBe(
      201,
    );
  });

  it('gets a 4xx when the client stops in the middle, and the next request is served', async () => {
    const head = `POST ${CUSTOMERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.keys.live.secret}\r\n`;
    await abandon(`${head}Content-Length: 100\r\n\r\n{"name":`);
    expect((await api.call('GET', METERS)).status).toBe(200);
  });
});

describe('unknown fields', () => {
  const body = () => ({ ...newCustomer(), colour: 'red', 'a, b\r\nX: y': 1, __proto__x: 1 });

  it('are ignored and named in a header that they cannot corrupt', async () => {
    const response = await api.call('POST', CUSTOMERS, { body: body() });
    expect(response.status).toBe(201);
    expect(response.headers['x-ignored-fields']).toBe('colour, a%2C%20b%0D%0AX:%20y, __proto__x');
  });

  it('are named also inside an object with a fixed set of fields', async () => {
    const creditRates = { property: 'region', rates: { eu: 1 }, currency: 'EUR' };
    const meter = { key: 'nested', name: 'n', aggregation: 'sum', creditRates };
    expect((await api.call('POST', METERS, { body: meter })).headers['x-ignored-fields']).toBe(
      'creditRates.currency',
    );
  });

  it('are named inside a list, and rejected there when the client prefers it', async () => {
    const { body: feature } = await api.request('features.create');
    const { body: plan } = await api.request('createPlan');
    const entitlements = [{ featureKey: feature.key, value: 1, sofft: true }];
    const given = { params: { planId: plan.id }, body: { entitlements } };
    const headers = { prefer: 'handling=strict' };
    const rejected = await api.request('plans.replaceEntitlements', { ...given, headers });
    expectRejection(rejected, 'invalid_request', 'entitlements.0.sofft');
    const { status, headers: notified } = await api.request('plans.replaceEntitlements', given);
    expect([status, notified['x-ignored-fields']]).toEqual([200, 'entitlements.0.sofft']);
  });

  it('are rejected when the client prefers it', async () => {
    const headers = { prefer: 'respond-async, handling=strict' };
    const response = await api.call('POST', CUSTOMERS, { body: body(), headers });
    expectRejection(response, 'invalid_request', 'colour');
    expect(response.headers['preference-applied']).toBe('handling=strict');
  });
});

describe('a parameter of the query', () => {
  it('is rejected when it is given twice: either value may be the one that is meant', async () => {
    for (const query of ['page=1&page=2', 'page=1&p%61ge=1', 'page=1&page=x']) {
      expectRejection(await api.call('GET', `${METERS}?${query}`), 'invalid_request', 'page');
    }
    const key = api.keys.live.publishable;
    const path = `/api/v1/events/funnel?key=${key}&key=${key}`;
    const body = ROUTES['funnel.record'].example;
    expectRejection(await api.call('POST', path, { key: undefined, body }), 'invalid_request', 'key');
  });
});

describe('every response', () => {
  // Red when one of the ways to respond leaves them out.
  it('forbids caches and guesses of the type', async () => {
    const responses = [
      await api.call('GET', CUSTOMERS),
      await api.call('POST', CUSTOMERS, { body: newCustomer() }),
      await api.call('GET', '/api/v1/nothing'),
      await api.call('GET', CUSTOMERS, { key: 'sk_live_wrong' }),
    ];
    for (const { status, headers } of responses) {
      expect([status, headers['cache-control']]).toEqual([status, 'no-store']);
      expect([status, headers['x-content-type-options']]).toEqual([status, 'nosniff']);
    }
    expect((await api.call('GET', '/docs')).headers['cache-control']).toBe('no-cache');
  });

  it("takes over the caller's request id where it is acceptable", async () => {
    const request = async (id: string) =>
      (await api.call('GET', METERS, { headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await request('trace-1/2')).toBe('trace-1/2');
    expect(await request('a b')).toMatch(/^req_[a-z2-7]{26}$/);
    expect(await request('x'.repeat(129))).toMatch(/^req_/);
  });

  it('is 503 with Retry-After while ClickHouse is unavailable, without internal details', async () => {
    await api.call('POST', CUSTOMERS, { body: { name: 'a', email: 'a@b.cd', externalId: 'unreachable' } });
    await api.call('POST', METERS, { body: { key: 'unreachable', name: 'a', aggregation: 'sum' } });
    const response = await api.call('GET', '/api/v1/usage/unreachable/unreachable');
    expectRejection(response, 'unavailable');
    expect(response.headers['retry-after']).toBe('1');
    expect(response.text).not.toMatch(/ClickHouse|Postgres| {4}at /i);
  });
});

describe('the pages of an operator', () => {
  it('report alive, and not ready with the name of what is unavailable', async () => {
    expect((await api.call('GET', '/healthz', { key: undefined })).body).toEqual({ status: 'alive' });
    const response = await api.call('GET', '/readyz', { key: undefined });
    expect(response.status).toBe(503);
    expect(response.body.checks).toMatchObject({
      postgres: { ok: true },
      warehouse: { ok: false },
      lag: { ok: true },
    });
  });

  it('describe every operation, and count the responses', async () => {
    const { body } = await api.call('GET', '/openapi.json', { key: undefined });
    expect(body).toMatchObject({ openapi: '3.1.0', info: { version: '2026-03-15' } });
    const described = Object.values(body.paths).flatMap((path) =>
      Object.values(path as object).map(({ operationId }) => operationId),
    );
    expect(described.sort()).toEqual(Object.keys(ROUTES).sort());
    const { text } = await api.call('GET', '/metrics', { key: undefined });
    expect(text).toMatch(
      /metergate_http_request_seconds_count\{operation="customers.create",status="201"\} [1-9]/,
    );
  });
});

/** Sends bytes on a separate connection and returns the whole response. */
function sendRaw(bytes: string, until = 'requestId'): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = '';
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      response += chunk.toString();
      if (response.includes(until)) socket.destroy();
    });
    socket.on('close', () => resolve(response));
    socket.on('error', (error) => (response === '' ? reject(error) : undefined));
  });
}

/** Sends bytes and disconnects. */
function abandon(bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1', () => {
      socket.write(bytes, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
}
