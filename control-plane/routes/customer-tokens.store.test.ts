import { describe, expect, it } from 'vitest';
import { signCustomerToken } from '../../domain/rules/customer-token.ts';
import { deriveSecrets } from '../../domain/secrets.ts';
import { isOpenToPages, type Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import {
  apiOfThisFile,
  apiOfThisTest,
  type CallOptions,
  expectRejection,
  newCustomer,
} from '../api-under-test.ts';

/*
 * Mutants this suite catches: the end of a token not checked; the key that created it not checked; a token
 * taken by an operation without the mark, or for a customer in the path that is not its own; scopes of the
 * token's key ignored; a token accepted in the address; a replay shown to a key with fewer scopes.
 */
const clock = { aheadMs: 0, nowMs: () => Date.now() + clock.aheadMs, monotonicMs: () => performance.now() };
const api = await apiOfThisFile(undefined, { clock });
const { customerTokenKey } = deriveSecrets(Buffer.alloc(32, 7));
const customer = (await api.request('customers.create', { body: newCustomer() })).body;
const other = (await api.request('customers.create', { body: newCustomer() })).body;
const ORIGIN = 'https://shop.example';

async function newToken(body: object = {}, options: CallOptions = {}): Promise<string> {
  const response = await api.request('customerTokens.create', {
    body: { customerId: customer.id, ...body },
    ...options,
  });
  expect(response.status).toBe(201);
  return response.body.token;
}

const entitlements = (customerId: string, key: string, headers: Record<string, string> = {}) =>
  api.request('entitlements.list', { params: { customerId }, key, headers });

describe('creating a customer token', () => {
  it('returns it with its end and the id of the customer', async () => {
    const before = Date.now();
    for (const [expiresInSeconds, seconds] of [
      [undefined, 3600],
      [60, 60],
      [86_400, 86_400],
    ]) {
      const { status, body } = await api.request('customerTokens.create', {
        body: { customerId: customer.externalId, expiresInSeconds },
      });
      expect([status, body.customerId]).toEqual([201, customer.id]);
      expect(body.token).toMatch(/^ct_live_/);
      const lastsMs = Date.parse(body.expiresAt) - before;
      expect(lastsMs - Number(seconds) * 1000).toBeGreaterThanOrEqual(0);
      expect(lastsMs - Number(seconds) * 1000).toBeLessThan(60_000);
    }
  });

  it.each([
    [{ customerId: 'x', expiresInSeconds: 59 }, 'invalid_request', 'expiresInSeconds'],
    [{ customerId: 'x', expiresInSeconds: 86_401 }, 'invalid_request', 'expiresInSeconds'],
    [{ customerId: 'x', expiresInSeconds: 60.5 }, 'invalid_request', 'expiresInSeconds'],
    [{}, 'invalid_request', 'customerId'],
    [{ customerId: 'nobody-here' }, 'customer_not_found', 'customerId'],
  ] as const)('is rejected with %j', async (body, code, param) => {
    expectRejection(await api.request('customerTokens.create', { body }), code, param);
  });

  it('needs a secret key with customers:view, and an active customer', async () => {
    const body = { customerId: customer.id };
    const create = (key: string) => api.request('customerTokens.create', { body, key });
    expectRejection(await create(api.keys.live.publishable), 'publishable_key_not_allowed');
    const scoped = await api.addKey({ scopes: ['entitlements:read', 'usage:read'] });
    expectRejection(await create(scoped), 'insufficient_scope');
    const left = (await api.request('customers.create', { body: newCustomer() })).body;
    await api.request('customers.archive', { params: { customerId: left.id } });
    const archived = await api.request('customerTokens.create', { body: { customerId: left.id } });
    expectRejection(archived, 'customer_archived', 'customerId');
  });

  it('is repeated by its Idempotency-Key, but not to a key with other scopes', async () => {
    const headers = { 'idempotency-key': 'token-1' };
    const first = await newToken({}, { headers });
    expect(await newToken({}, { headers })).toBe(first);
    const key = await api.addKey({ scopes: ['customers:view'] });
    const body = { customerId: customer.id };
    const repeated = await api.request('customerTokens.create', { body, headers, key });
    expectRejection(repeated, 'idempotency_key_reused');
  });
});

describe('a customer token', () => {
  it('reads its own customer by id, external id or `me`, from a page of any origin', async () => {
    const token = await newToken();
    for (const name of ['me', customer.id, customer.externalId ?? '']) {
      const { status, body, headers } = await entitlements(name, token, { origin: ORIGIN });
      expect([status, body]).toEqual([200, []]);
      expect(headers).toMatchObject({
        'access-control-allow-origin': ORIGIN,
        'cache-control': 'no-store',
      });
    }
    const decision = await api.request('entitlements.check', {
      params: { customerId: 'me', featureKey: 'x' },
      key: token,
    });
    expect([decision.status, decision.body.customerId]).toEqual([200, customer.id]);
    const preflight = await api.call('OPTIONS', '/api/v1/usage/me', {
      key: undefined,
      headers: { origin: ORIGIN, 'access-control-request-headers': 'authorization' },
    });
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, ORIGIN]);
    const pricing = await api.request('pricing.retrieve', { key: token });
    expect([pricing.status, pricing.headers['cache-control']]).toEqual([200, 'no-store']);
  });

  it('reads no other customer, whether or not there is one', async () => {
    const token = await newToken();
    for (const name of [other.id, other.externalId ?? '', 'nobody-here']) {
      const response = await entitlements(name, token);
      expectRejection(response, 'customer_token_not_allowed', 'customerId');
      expect(response.text).not.toContain(other.name);
    }
    // With a secret key `me` is a name like any other.
    expectRejection(await entitlements('me', api.keys.live.secret), 'customer_not_found', 'customerId');
  });

  it('is taken by no operation but those that are marked, which only read', async () => {
    const token = await newToken();
    const marked: string[] = [];
    for (const [operationId, route] of Object.entries<Route>(ROUTES)) {
      if (route.plane !== 'control' || ['public', 'signature'].includes(route.access)) continue;
      if (route.customerToken) {
        marked.push(operationId);
        expect(route.method).toBe('GET');
        expect(isOpenToPages(route)).toBe(true);
        expect(Object.keys(route.query.properties)).not.toContain('customerId');
        continue;
      }
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, 'x']);
      const params = Object.fromEntries(names);
      const response = await api.request(operationId as OperationId, { params, key: token });
      expectRejection(response, 'customer_token_not_allowed');
    }
    expect(marked).toEqual(
      expect.arrayContaining(['entitlements.list', 'entitlements.check', 'usage.list', 'pricing.retrieve']),
    );
  });

  it('has no more scopes than the key that created it', async () => {
    const key = await api.addKey({ scopes: ['customers:view', 'entitlements:read'] });
    const token = await newToken({}, { key });
    expect((await entitlements('me', token)).status).toBe(200);
    const usage = await api.request('usage.list', { params: { customerId: 'me' }, key: token });
    expectRejection(usage, 'insufficient_scope');
  });

  it('ends at its time, with the key that created it, and with its customer', async () => {
    const short = await newToken({ expiresInSeconds: 60 });
    expect((await entitlements('me', short)).status).toBe(200);
    clock.aheadMs = 60_001;
    expectRejection(await entitlements('me', short), 'key_expired');
    clock.aheadMs = 0;

    const { body: made } = await api.request('apiKeys.create', { body: { kind: 'secret', scopes: ['*'] } });
    const ofKey = await newToken({}, { key: made.key });
    expect((await entitlements('me', ofKey)).status).toBe(200);
    await api.request('apiKeys.revoke', { params: { keyId: made.id } });
    await expect.poll(async () => (await entitlements('me', ofKey)).status, { timeout: 10_000 }).toBe(401);
    expectRejection(await entitlements('me', ofKey), 'key_revoked');

    const { body: left } = await api.request('customers.create', { body: newCustomer() });
    const ofCustomer = await newToken({ customerId: left.id });
    expect((await entitlements('me', ofCustomer)).status).toBe(200);
    await api.request('customers.archive', { params: { customerId: left.id } });
    expectRejection(await entitlements('me', ofCustomer), 'key_revoked');
  });

  it('is rejected when it is forged, in an address, or of a key or customer from elsewhere', async () => {
    const token = await newToken();
    expectRejection(await entitlements('me', `${token.slice(0, -2)}AA`), 'unauthenticated');
    const inAddress = await api.call('GET', `/api/v1/pricing?key=${token}`, { key: undefined });
    expectRejection(inAddress, 'unauthenticated');
    expect(inAddress.text).not.toContain(token);
    const beta = await api.addWorkspace();
    const { body: keys } = await api.request('apiKeys.list', { key: beta.live.secret });
    const expiresAtMs = Date.now() + 60_000;
    const { environment } = api;
    const crossed = { environment, customerId: customer.id, keyId: keys.data[0]?.id ?? '', expiresAtMs };
    const withForeignKey = signCustomerToken(crossed, customerTokenKey);
    expectRejection(await entitlements('me', withForeignKey), 'key_revoked');
    const { body: own } = await api.request('apiKeys.list', { key: beta.live.secret });
    const ofBeta = { ...crossed, environment: `${beta.workspaceId}:live`, keyId: own.data[0]?.id ?? '' };
    const withForeignCustomer = signCustomerToken(ofBeta, customerTokenKey);
    expectRejection(await entitlements('me', withForeignCustomer), 'key_revoked');
  });
});

it('tokens of a customer are limited together, and take nothing from a secret key', async () => {
  const limited = await apiOfThisTest(undefined, { rateLimits: { customer: { perSecond: 1, burst: 3 } } });
  const { body: made } = await limited.request('customers.create', { body: newCustomer() });
  const create = async () =>
    (await limited.request('customerTokens.create', { body: { customerId: made.id } })).body.token;
  const tokens = [await create(), await create()];
  const read = (key: string) => limited.request('entitlements.list', { params: { customerId: 'me' }, key });
  const statuses = await Promise.all(tokens.flatMap((one) => [one, one, one]).map(read));
  expect(statuses.filter(({ status }) => status === 429).length).toBe(3);
  const withSecret = await limited.request('entitlements.list', { params: { customerId: made.id } });
  expect(withSecret.status).toBe(200);
});
