import { describe, expect, it, onTestFinished } from 'vitest';
import { RESPONSE_GUARDS } from '../../../schemas/http/response-guards.ts';
import { openConnection, requestHead } from '../../../tests/support/raw-connection.ts';
import { apiOfThisFile, EMPTY_LOG, UNAVAILABLE_WAREHOUSE } from '../../api-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import {
  type SecondControlPlane,
  secondControlPlaneOfThisFile,
  startSecondControlPlane,
} from '../second-control-plane-under-test.ts';

/*
 * The check fast path against the app behind it, over HTTP and a real Postgres.
 *
 * Mutants this suite catches: the fast path without the key's scope, kind, state or environment; a header
 * that it leaves out; a query, a body or a preference that it ignores; no rate limit.
 */
const stores = { warehouse: UNAVAILABLE_WAREHOUSE, logReader: EMPTY_LOG };

const api = await apiOfThisFile(stores);
const made = customerGrantsUnderTest(api);
const listening = await secondControlPlaneOfThisFile(api, stores);
await made.features({ sso: 'boolean', audit: 'boolean', seats: 'limit' });

describe('the check fast path', () => {
  /** The public port adds them to every response that lacks them: http-front-headers.ts. */
  const guards = Object.keys(RESPONSE_GUARDS).map((name) => name.toLowerCase());

  /** The query makes the same request take the path through the app. */
  const both = async (options: Parameters<SecondControlPlane['request']>[1], path: string) => {
    const fast = await listening.request(path, options);
    const other = await listening.request(`${path}?consistency=eventual`, options);
    return [fast, other].map(({ status, headers, text }) => {
      const { date, 'x-request-id': requestId, ...more } = headers;
      const rest = Object.fromEntries(Object.entries(more).filter(([name]) => !guards.includes(name)));
      const isOurs = /^req_[a-z2-7]{26}$/.test(String(requestId));
      return {
        status,
        headers: rest,
        text: text.replace(String(requestId), ''),
        requestId: isOurs,
        date: !!date,
      };
    });
  };

  it('responds as the app does, and leaves every rejection to it', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true, seats: 5 });
    const limited = await api.addKey({ scopes: ['usage:read'] });
    const ended = await api.addKey({ revokedAt: new Date() });
    const requests: Array<Parameters<SecondControlPlane['request']>[1]> = [
      {},
      { method: 'HEAD' },
      { headers: bearer(api.keys.test.secret) },
      { headers: bearer(limited) },
      { headers: bearer(ended) },
      { headers: bearer(api.keys.live.publishable) },
      { headers: { authorization: 'Basic eDp5' } },
      { headers: { authorization: '' } },
      { headers: { 'x-api-key': 'sk_live_other' } },
      { headers: { 'x-api-key': api.keys.live.secret } },
      { headers: { authorization: `bearer   ${api.keys.live.secret}` } },
      { headers: { prefer: 'numbers=text' } },
      { headers: { origin: 'https://shop.example' } },
    ];
    for (const feature of ['sso', 'seats', 'audit', 'nothing']) {
      for (const options of requests) {
        const path = `/entitlements/${customerId}/${feature}`;
        await both(options, path);
        const [fast, other] = await both(options, path);
        expect(fast).toEqual(other);
      }
    }
  });

  it('responds to a body as the app does, and leaves every other one to it', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true, seats: 5 });
    const type = { 'content-type': 'application/json' };
    const features = [{ featureKey: 'sso' }, { featureKey: 'seats', requested: 5.5 }];
    const bodies: unknown[] = [
      { customerId, features },
      { customerId, features: [...features, { featureKey: 'nothing' }] },
      { customerId: 'cus_unknown', features },
      { customerId, features: [{ featureKey: 'seats', requested: -1 }] },
      { customerId, features: [{ featureKey: 'seats', requested: 0.0000000000001 }] },
      { customerId, features: [] },
      { customerId, features, more: 1 },
      { customerId, features: [{ featureKey: 'a\u0000' }] },
      'text',
      { customerId, features: Array.from({ length: 100 }, () => ({ featureKey: 'sso'.padEnd(128, 'x') })) },
      { customerId, features: Array.from({ length: 101 }, () => ({ featureKey: 'sso' })) },
    ];
    const headers: Array<Record<string, string>> = [
      type,
      { 'content-type': 'application/json; charset=utf-8' },
      { 'content-type': 'text/plain' },
      { ...type, prefer: 'handling=strict' },
      { ...type, prefer: 'numbers=text' },
      { ...type, 'content-encoding': 'gzip' },
      { ...type, ...bearer(api.keys.live.publishable) },
    ];
    await listening.request('/entitlements/check', { method: 'POST', headers: type, body: bodies[0] });
    for (const body of bodies) {
      for (const head of headers) {
        const [fast, other] = await both({ method: 'POST', headers: head, body }, '/entitlements/check');
        expect(fast).toEqual(other);
      }
    }
  });

  it('responds to pipelined requests in their order, and closes when requested', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true, seats: 5 });
    const names = ['sso', 'seats', 'audit', 'sso'];
    const texts: string[] = [];
    for (const name of names) texts.push((await listening.check(customerId, name)).text);
    const key = `Authorization: Bearer ${api.keys.live.secret}`;
    const heads = names.map((name, at) => {
      const headers = at === names.length - 1 ? [key, 'Connection: close'] : [key];
      return requestHead(`GET /api/v1/entitlements/${customerId}/${name} HTTP/1.1`, headers);
    });
    const client = await openConnection(listening.port);
    client.send(heads.join(''));
    for (const text of texts) expect(await client.response()).toMatchObject({ status: 200, body: text });
    await client.closed(20_000);
  });

  it("takes over the caller's request id", async () => {
    const path = `/entitlements/${await made.customer()}/sso`;
    await listening.request(path);
    const headers = { 'x-request-id': 'mine-1' };
    expect((await listening.request(path, { headers })).headers['x-request-id']).toBe('mine-1');
  });

  it('counts its responses against the limit of the key', async () => {
    const plane = await startSecondControlPlane(api, stores, {
      rateLimits: { secret: { perSecond: 0.01, burst: 3 } },
    });
    onTestFinished(plane.close);
    const path = `/entitlements/${await made.customer()}/sso`;
    const statuses = [];
    for (let request = 0; request < 5; request += 1) statuses.push((await plane.request(path)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });
});

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}
