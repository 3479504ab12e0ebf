import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { createPool } from '../infra/postgres/pool.ts';
import { createTestDatabase, type TestDatabase } from '../infra/postgres/test-database.ts';
import { openSegmentLogReader } from '../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../infra/segment-log/writer.ts';
import { Transient } from '../schemas/failures.ts';
import type { Route } from '../schemas/route.ts';
import { ROUTES } from '../schemas/routes.ts';
import { newApiKey } from '../schemas/rules/api-key.ts';
import { type ApiUnderTest, expectRefusal, startApi } from './api-under-test.ts';

/*
 * The conventions of the contract (§1, §2) over HTTP and a real Postgres. ClickHouse is away in this file.
 *
 * Breaks that turn it red: the order of two checks swapped; the environment left out of a statement; the change
 * committed before its answer is kept; `once` without its lock; exactJson replaced by JSON.stringify.
 */
const log = pino({ level: 'silent' });
const CUSTOMERS = '/api/v1/customers';
const METERS = '/api/v1/meters';

let folder: string;
let database: TestDatabase;
let pool: Pool;
let api: ApiUnderTest;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  database = await createTestDatabase();
  pool = createPool({ url: database.url, name: 'test', log });
  const writer = await openSegmentLogWriter({ directory: folder, identityCheck: Buffer.alloc(16), log });
  await writer.close();
  const logReader = await openSegmentLogReader({ directory: folder });
  api = await startApi({ pool, url: database.url, warehouse: warehouseAway(), logReader });
});

afterAll(async () => {
  await api?.close();
  await pool?.end();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** The fault of this file: every statement fails as it does while ClickHouse is away. */
function warehouseAway(): Warehouse {
  const away = async () => {
    throw new Transient('warehouse_unavailable', 'ClickHouse is away.');
  };
  return { migrate: away, insertEvents: away, accepts: away, query: away, close: async () => undefined };
}

let made = 0;
function newCustomer(): { name: string; email: string; externalId: string } {
  made += 1;
  return { name: `Customer ${made}`, email: `c${made}@example.com`, externalId: `ext-${made}` };
}

describe('the order of checks', () => {
  const bad = { key: 'sk_live_wrong', body: '{"name":' };

  it('names an unsupported version before anything else, in any case', async () => {
    for (const path of ['/api/v2/customers', '/api/V1/customers', '/api/v1.1/x', '/api/v2beta', '/api/v10']) {
      expectRefusal(await api.call('POST', path, bad), 'unsupported_api_version');
    }
  });

  it('names an unknown path before the method and the key', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/v1',
      '/api/v1/nothing',
      '/api/v1/customers/',
      '/api/v1/Customers',
    ]) {
      expectRefusal(await api.call('POST', path, bad), 'not_found');
    }
  });

  it('names a wrong method, and the right ones in Allow, before the key', async () => {
    const answer = await api.call('DELETE', METERS, bad);
    expectRefusal(answer, 'method_not_allowed');
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
  });

  it('takes a concrete path for itself and not for a customer called events', async () => {
    const answer = await api.call('GET', '/api/v1/usage/events/batch');
    expectRefusal(answer, 'method_not_allowed');
    expect(answer.headers.allow).toBe('POST');
  });

  it('names the key before the media type, the scope before the body', async () => {
    const headers = { 'content-type': 'text/plain' };
    expectRefusal(await api.call('POST', CUSTOMERS, { ...bad, headers }), 'unauthenticated');
    const key = api.keys.live.publishable;
    expectRefusal(await api.call('POST', CUSTOMERS, { ...bad, key, headers }), 'publishable_key_not_allowed');
    expectRefusal(await api.call('POST', CUSTOMERS, { body: '{', headers }), 'unsupported_media_type');
  });

  it('names the size before the JSON, the JSON before the fields', async () => {
    expectRefusal(
      await api.call('POST', CUSTOMERS, { body: `{${' '.repeat(1 << 20)}` }),
      'payload_too_large',
    );
    expectRefusal(await api.call('POST', CUSTOMERS, { body: '{"name":' }), 'invalid_json');
    expectRefusal(
      await api.call('POST', CUSTOMERS, { body: Buffer.from([0x22, 0xff, 0x22]) }),
      'invalid_json',
    );
    expectRefusal(await api.call('POST', CUSTOMERS, { body: '[]' }), 'invalid_request');
    expectRefusal(await api.call('POST', CUSTOMERS, { body: '' }), 'invalid_json');
  });

  it('refuses a body that grows beyond the limit without a length announced', async () => {
    const chunks = ['POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n'];
    chunks.push(`Authorization: Bearer ${api.keys.live.secret}\r\n\r\n`);
    for (let chunk = 0; chunk < 17; chunk += 1) chunks.push(`10000\r\n${' '.repeat(65_536)}\r\n`);
    expect(await exchange(chunks.join(''))).toMatch(/^HTTP\/1.1 413 [\s\S]*"payload_too_large"/);
  });

  it('answers 410 for the removed operation, after authentication and for any scope', async () => {
    const path = '/api/v1/integrations/legacy-webhooks';
    expectRefusal(await api.call('GET', path, { key: undefined }), 'unauthenticated');
    const answer = await api.call('GET', path, { key: await addKey({ scopes: [] }) });
    expectRefusal(answer, 'endpoint_removed');
    expect(answer.body.error.details.replacement).toBe('GET /api/v1/webhooks/endpoints');
    expect(answer.headers).not.toHaveProperty('deprecation');
  });
});

describe('a key', () => {
  it('may come in either header, and twice only when it is the same', async () => {
    const key = api.keys.live.secret;
    const both = (a: string, b: string) => ({ headers: { authorization: `Bearer ${a}`, 'x-api-key': b } });
    expect((await api.call('GET', METERS, { key: undefined, headers: { 'x-api-key': key } })).status).toBe(
      200,
    );
    expect((await api.call('GET', METERS, both(key, key))).status).toBe(200);
    expectRefusal(await api.call('GET', METERS, both(key, api.keys.test.secret)), 'unauthenticated');
    expectRefusal(
      await api.call('GET', METERS, { headers: { authorization: 'Basic eDp5' } }),
      'unauthenticated',
    );
  });

  it('is refused when it is unknown, revoked or expired', async () => {
    const past = new Date(Date.now() - 1000);
    expectRefusal(await api.call('GET', METERS, { key: newApiKey('secret', 'live') }), 'unauthenticated');
    expectRefusal(await api.call('GET', METERS, { key: await addKey({ revokedAt: past }) }), 'key_revoked');
    expectRefusal(await api.call('GET', METERS, { key: await addKey({ expiresAt: past }) }), 'key_expired');
  });

  it('needs the scope of the operation, whichever it is', async () => {
    const key = await addKey({ scopes: ['webhooks:read'] });
    const guarded = Object.values<Route>(ROUTES).filter(
      ({ plane, access }) => plane === 'control' && access !== 'public' && access !== 'any_key',
    );
    expect(guarded.length).toBeGreaterThan(5);
    for (const { method, path } of guarded) {
      const concrete = path.replace(/\{\w+\}/g, 'x');
      expectRefusal(await api.call(method, concrete, { key }), 'insufficient_scope');
      const publishable = api.keys.live.publishable;
      expectRefusal(await api.call(method, concrete, { key: publishable }), 'publishable_key_not_allowed');
    }
  });

  it('stamps the first call of its workspace, once', async () => {
    const keys = await api.addWorkspace();
    const stamp = () =>
      pool.query('SELECT first_api_call_at AS at FROM workspaces WHERE id = $1', [keys.workspaceId]);
    await api.call('GET', METERS, { key: keys.test.secret });
    const first = await expect.poll(async () => (await stamp()).rows[0].at).toBeInstanceOf(Date);
    expect(first).toBeUndefined();
    const { rows } = await stamp();
    await api.call('GET', METERS, { key: keys.live.secret });
    expect((await stamp()).rows).toEqual(rows);
  });
});

describe('a customer', () => {
  it('is created and announced', async () => {
    const body = { ...newCustomer(), metadata: { plan: 'gold', seats: 3, vip: true } };
    const answer = await api.call('POST', CUSTOMERS, { body });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      ...body,
      id: expect.stringMatching(/^cus_[a-z2-7]{26}$/),
      status: 'active',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  it('has an externalId of its own within the environment', async () => {
    const body = newCustomer();
    expect((await api.call('POST', CUSTOMERS, { body })).status).toBe(201);
    expectRefusal(await api.call('POST', CUSTOMERS, { body }), 'already_exists', 'externalId');
    expect((await api.call('POST', CUSTOMERS, { body, key: api.keys.test.secret })).status).toBe(201);
  });

  const refused: Array<[what: string, fields: Record<string, unknown>, param: string]> = [
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['a name that is a number', { name: 5 }, 'name'],
    ['no email', { email: undefined }, 'email'],
    ['an email without @', { email: 'example.com' }, 'email'],
    ['an email with a line feed', { email: 'a@example.com\nBcc: b@c.d' }, 'email'],
    ['an externalId like an id', { externalId: 'cus_abc' }, 'externalId'],
    ['the externalId events', { externalId: 'events' }, 'externalId'],
    ['an externalId that no path can carry', { externalId: '..' }, 'externalId'],
    ['an empty externalId', { externalId: '' }, 'externalId'],
    ['metadata that is nested', { metadata: { a: { b: 1 } } }, 'metadata.a'],
    [
      'metadata of 33 entries',
      { metadata: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [i, 1])) },
      'metadata',
    ],
  ];
  it.each(refused)('is refused with %s', async (_, fields, param) => {
    expectRefusal(
      await api.call('POST', CUSTOMERS, { body: { ...newCustomer(), ...fields } }),
      'invalid_request',
      param,
    );
  });

  it('may be called anything that is text: quotes, SQL, other scripts, prototype names', async () => {
    for (const name of [`'; DROP TABLE customers; --`, '客户 💡', '__proto__', '\u202e', ' x ']) {
      const body = { ...newCustomer(), name, metadata: { constructor: name } };
      expect((await api.call('POST', CUSTOMERS, { body })).body).toMatchObject({ name });
    }
  });
});

describe('a hostile body', () => {
  const bodyWith = (json: string) => ({ body: `{"name":"x","email":"x@example.com","more":${json}}` });

  it('is refused for U+0000 and lone surrogates, wherever they stand', async () => {
    for (const json of ['"\\u0000"', '"\\ud800"', '{"\\udc00":1}', '[[["a\\u0000b"]]]']) {
      expectRefusal(await api.call('POST', CUSTOMERS, bodyWith(json)), 'invalid_request');
    }
    expectRefusal(await api.call('GET', '/api/v1/usage/a%00b/c'), 'invalid_request');
    expectRefusal(await api.call('GET', `${METERS}?x=%00`), 'invalid_request');
  });

  it('may be nested as deep as it is long, also where it is compared', async () => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    const headers = { 'idempotency-key': 'deep' };
    expect((await api.call('POST', CUSTOMERS, { ...bodyWith(deep), headers })).status).toBe(201);
    expect((await api.call('POST', CUSTOMERS, { ...bodyWith(`[${'0,'.repeat(400_000)}0]`) })).status).toBe(
      201,
    );
  });

  it('is answered 4xx when the client stops in the middle, and the next request is served', async () => {
    const head = `POST ${CUSTOMERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.keys.live.secret}\r\n`;
    await abandon(`${head}Content-Length: 100\r\n\r\n{"name":`);
    expect((await api.call('GET', METERS)).status).toBe(200);
  });
});

describe('unknown fields', () => {
  const body = () => ({ ...newCustomer(), colour: 'red', 'a, b\r\nX: y': 1, __proto__x: 1 });

  it('are ignored and named in a header that they cannot break', async () => {
    const answer = await api.call('POST', CUSTOMERS, { body: body() });
    expect(answer.status).toBe(201);
    expect(answer.headers['x-ignored-fields']).toBe('colour, a%2C%20b%0D%0AX:%20y, __proto__x');
  });

  it('are named also inside an object whose fields are listed', async () => {
    const creditRates = { property: 'region', rates: { eu: 1 }, currency: 'EUR' };
    const meter = { key: 'nested', name: 'n', aggregation: 'sum', creditRates };
    expect((await api.call('POST', METERS, { body: meter })).headers['x-ignored-fields']).toBe(
      'creditRates.currency',
    );
  });

  it('are refused when the client prefers it', async () => {
    const headers = { prefer: 'respond-async, handling=strict' };
    const answer = await api.call('POST', CUSTOMERS, { body: body(), headers });
    expectRefusal(answer, 'invalid_request', 'colour');
    expect(answer.headers['preference-applied']).toBe('handling=strict');
  });
});

describe('an idempotent POST', () => {
  let used = 0;
  function keyed(more: Record<string, string> = {}) {
    used += 1;
    return { 'idempotency-key': `key ${used} é`, ...more };
  }

  it('is answered again as it was, and changes nothing twice', async () => {
    const headers = keyed();
    const { name, email, externalId } = newCustomer();
    const first = await api.call('POST', CUSTOMERS, { body: { name, email, externalId }, headers });
    const again = await api.call('POST', CUSTOMERS, { body: { externalId, email, name }, headers });
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('with another body is refused, also when a double could not tell them apart', async () => {
    const headers = keyed();
    const meter = (rate: string) =>
      `{"key":"rate-${used}","name":"r","aggregation":"sum","creditRate":${rate}}`;
    expect((await api.call('POST', METERS, { body: meter('1.000000000001'), headers })).status).toBe(201);
    expect((await api.call('POST', METERS, { body: meter('1.0000000000010'), headers })).status).toBe(201);
    const other = await api.call('POST', METERS, { body: meter('100000000000000.000000000001'), headers });
    expectRefusal(other, 'idempotency_key_reused');
  });

  it('may be repaired under the same key after a refusal', async () => {
    const headers = keyed();
    const { email } = newCustomer();
    expectRefusal(await api.call('POST', CUSTOMERS, { body: { email }, headers }), 'invalid_request', 'name');
    const taken = newCustomer();
    await api.call('POST', CUSTOMERS, { body: taken });
    expectRefusal(
      await api.call('POST', CUSTOMERS, { body: taken, headers }),
      'already_exists',
      'externalId',
    );
    expect((await api.call('POST', CUSTOMERS, { body: { name: 'n', email }, headers })).status).toBe(201);
  });

  it('keeps keys of other environments and paths apart', async () => {
    const headers = keyed();
    const body = { name: 'n', email: 'n@example.com' };
    const live = await api.call('POST', CUSTOMERS, { body, headers });
    const test = await api.call('POST', CUSTOMERS, { body, headers, key: api.keys.test.secret });
    expect(test.body.id).not.toBe(live.body.id);
    const meter = { key: `apart-${used}`, name: 'm', aggregation: 'count' };
    expect((await api.call('POST', METERS, { body: meter, headers })).body.key).toBe(meter.key);
  });

  it('runs once when rivals race', async () => {
    const headers = keyed();
    const body = { name: 'Race', email: 'race@example.com' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call('POST', CUSTOMERS, { body, headers })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true')).toHaveLength(7);
  });

  it('is stored sealed', async () => {
    const headers = keyed();
    await api.call('POST', CUSTOMERS, { body: { name: 'Sealed', email: 's@example.com' }, headers });
    const { rows } = await pool.query(`SELECT body FROM idempotent_answers WHERE key = $1`, [
      headers['idempotency-key'],
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0].body.includes('Sealed')).toBe(false);
  });

  it('is forgotten after 24 hours', async () => {
    const headers = keyed();
    const body = { name: 'Old', email: 'old@example.com' };
    const first = await api.call('POST', CUSTOMERS, { body, headers });
    await pool.query(
      `UPDATE idempotent_answers SET created_at = now() - interval '25 hours' WHERE key = $1`,
      [headers['idempotency-key']],
    );
    const later = await api.call('POST', CUSTOMERS, { body, headers });
    expect(later.body.id).not.toBe(first.body.id);
  });

  it('refuses a key that is empty or too long', async () => {
    const body = { name: 'n', email: 'n@example.com' };
    for (const key of ['', 'x'.repeat(256)]) {
      const answer = await api.call('POST', CUSTOMERS, { body, headers: { 'idempotency-key': key } });
      expectRefusal(answer, 'idempotency_key_invalid');
    }
  });
});

describe('a meter', () => {
  it('keeps its credit rates to the last digit', async () => {
    const rates = '{"property":"region","rates":{"eu":0.000000000001,"us":999999999999999.999999999999}}';
    const body = `{"key":"exact","name":"e","aggregation":"sum","unit":"GB","creditRate":1.50,"creditRates":${rates}}`;
    const answer = await api.call('POST', METERS, { body });
    expect(answer.text).toContain(`"creditRates":${rates}`);
    expect(answer.body).toMatchObject({ creditRate: 1.5, source: 'api', status: 'active', unit: 'GB' });
    expect((await api.call('GET', METERS)).text).toContain(`"creditRates":${rates}`);
  });

  const refused: Array<[what: string, fields: Record<string, unknown>, param: string]> = [
    ['a key like an id', { key: 'meter_x' }, 'key'],
    ['no aggregation', { aggregation: undefined }, 'aggregation'],
    ['an unknown aggregation', { aggregation: 'mean' }, 'aggregation'],
    ['unique without a property', { aggregation: 'unique' }, 'property'],
    ['a property on a sum', { property: 'user' }, 'property'],
    ['a rate on a max', { aggregation: 'max', creditRate: 1 }, 'creditRate'],
    [
      'rates on a latest',
      { aggregation: 'latest', creditRates: { property: 'a', rates: { b: 1 } } },
      'creditRates',
    ],
    ['a negative rate', { creditRate: -1 }, 'creditRate'],
    ['rates without a property', { creditRates: { rates: { b: 1 } } }, 'creditRates.property'],
  ];
  it.each(refused)('is refused with %s', async (_, fields, param) => {
    const body = { key: 'refused', name: 'r', aggregation: 'sum', ...fields };
    expectRefusal(await api.call('POST', METERS, { body }), 'invalid_request', param);
  });

  it.each(['1e-13', '1000000000000000', '1e400', '0.1234567890123'])(
    'is refused with a rate of %s',
    async (rate) => {
      const body = `{"key":"wide","name":"w","aggregation":"sum","creditRate":${rate}}`;
      expectRefusal(await api.call('POST', METERS, { body }), 'value_invalid', 'creditRate');
    },
  );

  it('has a key of its own', async () => {
    const body = { key: 'twice', name: 't', aggregation: 'unique', property: 'user' };
    expect((await api.call('POST', METERS, { body })).body).toMatchObject(body);
    expectRefusal(await api.call('POST', METERS, { body }), 'already_exists', 'key');
  });
});

describe('a list', () => {
  it('pages newest first with the seven fields, and is empty past its end', async () => {
    const keys = await api.addWorkspace();
    const key = keys.live.secret;
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      await api.call('POST', METERS, { key, body: { key: name, name, aggregation: 'count' } });
    }
    const page = async (query: string) => (await api.call('GET', `${METERS}?${query}`, { key })).body;
    const second = await page('page=2&pageSize=2');
    expect(second.data.map((meter: { key: string }) => meter.key)).toEqual(['c', 'b']);
    expect({ ...second, data: undefined }).toEqual({
      data: undefined,
      total: 5,
      page: 2,
      pageSize: 2,
      totalPages: 3,
      hasNext: true,
      hasPrev: true,
    });
    expect(await page('page=9')).toMatchObject({
      data: [],
      total: 5,
      totalPages: 1,
      hasNext: false,
      pageSize: 20,
    });
    expect((await api.call('GET', METERS, { key: keys.test.secret })).body.total).toBe(0);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=99999999999999999999',
    'pageSize=0',
    'pageSize=101',
  ])('refuses %s', async (query) => {
    expectRefusal(await api.call('GET', `${METERS}?${query}`), 'invalid_request', query.split('=')[0]);
  });
});

describe('every answer', () => {
  it("takes over the caller's request id where it is acceptable", async () => {
    const ask = async (id: string) =>
      (await api.call('GET', METERS, { headers: { 'x-request-id': id } })).headers['x-request-id'];
    expect(await ask('trace-1/2')).toBe('trace-1/2');
    expect(await ask('a b')).toMatch(/^req_[a-z2-7]{26}$/);
    expect(await ask('x'.repeat(129))).toMatch(/^req_/);
  });

  it('is 503 with Retry-After while ClickHouse is away, and tells nothing of the inside', async () => {
    await api.call('POST', CUSTOMERS, { body: { name: 'a', email: 'a@b.cd', externalId: 'away' } });
    await api.call('POST', METERS, { body: { key: 'away', name: 'a', aggregation: 'sum' } });
    const answer = await api.call('GET', '/api/v1/usage/away/away');
    expectRefusal(answer, 'unavailable');
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.text).not.toMatch(/ClickHouse|postgres|Error/i);
  });
});

describe('the pages of an operator', () => {
  it('say alive, and not ready with the name of what is away', async () => {
    expect((await api.call('GET', '/healthz', { key: undefined })).body).toEqual({ status: 'alive' });
    const answer = await api.call('GET', '/readyz', { key: undefined });
    expect(answer.status).toBe(503);
    expect(answer.body.checks).toMatchObject({
      postgres: { ok: true },
      warehouse: { ok: false },
      lag: { ok: true },
    });
  });

  it('describe every operation, and count what was answered', async () => {
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

  it('name partition alarms, quarantined lines and the differences that an audit found', async () => {
    await pool.query(`INSERT INTO partition_alarms VALUES ('ab', 0, 'frame_damaged', 'position 7')`);
    await pool.query(`INSERT INTO quarantine VALUES ('ab', 0, 0, 3, '\\x00', 'no number')`);
    await pool.query(
      `INSERT INTO audit_runs (id, repair, state, differences, finished_at) VALUES ('1', false, 'done', '[1, 2]', now())`,
    );
    const { body } = await api.call('GET', '/readyz', { key: undefined });
    expect(body.checks.partitions).toEqual({ ok: false, detail: 'partition 0: frame_damaged: position 7' });
    expect(body.checks.quarantine.detail).toContain('1 lines');
    expect(body.checks.audit.detail).toContain('2 differences');
  });
});

interface KeyState {
  scopes?: string[];
  revokedAt?: Date;
  expiresAt?: Date;
}

async function addKey({ scopes = ['*'], revokedAt, expiresAt }: KeyState): Promise<string> {
  const key = newApiKey('secret', 'live');
  await pool.query(
    `INSERT INTO api_keys (id, environment, kind, hash, last4, scopes, revoked_at, expires_at)
     VALUES ($1, $2, 'secret', $3, 'test', $4, $5, $6)`,
    [key, `${api.keys.workspaceId}:live`, api.hashOf(key), scopes, revokedAt, expiresAt],
  );
  return key;
}

/** Sends bytes on a connection of their own and gives the whole answer. */
function exchange(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.includes('requestId')) socket.destroy();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', (error) => (answer === '' ? reject(error) : undefined));
  });
}

/** Sends bytes and goes away. */
function abandon(bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1', () => {
      socket.write(bytes, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
}
