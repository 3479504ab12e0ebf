import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { listenUntil } from '../../../../tests/support/listen.ts';
import { createEntitlements } from '../entitlements/check.ts';
import { createClient } from './client.ts';

type Reply = [status: number, body: string, headers?: Record<string, string>];

/** Responds as scripted, the last reply again and again; undefined resets the connection. */
async function serve(...replies: Array<Reply | undefined>) {
  const requests: Array<Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }> = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    requests.push({ method, url, headers, body: await text(request) });
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (!reply) {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply[0], { 'content-type': 'application/json', ...reply[2] });
    response.end(reply[1]);
  });
  const { url } = await listenUntil(onTestFinished, server);
  return { client: createClient({ url, apiKey: 'sk_test_1' }), requests };
}

const error = (code: string) =>
  JSON.stringify({ error: { code, message: 'As scripted.', requestId: 'req_1' } });

it('puts input into the path, the query and the body', async () => {
  const { client, requests } = await serve([200, '{}']);
  await client.customers.update({ customerId: 'a/b ü', body: { name: 'B' } });
  await client.usage.breakdown({ customerId: 'a', meterId: 'm', dimension: 'x', filter: { 'a b': 'c&d' } });
  await client.plans.list();
  expect(requests.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['PATCH', '/api/v1/customers/a%2Fb%20%C3%BC', '{"name":"B"}'],
    ['GET', '/api/v1/usage/a/m/breakdown?dimension=x&filter%5Ba+b%5D=c%26d', ''],
    ['GET', '/api/v1/plans', ''],
  ]);
  expect(requests[0]?.headers).toMatchObject({ authorization: 'Bearer sk_test_1' });
  await expect(client.plans.retrieve({ planId: '' })).rejects.toThrow('planId');
});

it('repeats a creation under the same idempotency key until it has a response', async () => {
  const { client, requests } = await serve(undefined, [503, error('overloaded')], [201, '{"id":"cus_1"}']);
  const body = { name: 'A', email: 'a@b.example' };
  expect(await client.customers.create({ body })).toEqual({ id: 'cus_1' });
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']));
  expect([requests.length, keys.size, String([...keys][0]).length]).toEqual([3, 1, 26]);
});

it('repeats no change that could be made twice, and no rejection', async () => {
  const change = await serve([503, error('overloaded')]);
  const update = change.client.customers.update({ customerId: 'a', body: {} });
  await expect(update).rejects.toMatchObject({ code: 'overloaded', status: 503, requestId: 'req_1' });
  const rejection = await serve([404, error('plan_not_found')]);
  await expect(rejection.client.plans.retrieve({ planId: 'p' })).rejects.toMatchObject({
    code: 'plan_not_found',
  });
  expect([change.requests.length, rejection.requests.length]).toEqual([1, 1]);
});

it('says so when something else than the API responds, or nothing', async () => {
  const html = await serve([200, '<html>']);
  await expect(html.client.plans.list()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 });
  const redirect = await serve([302, '', { location: 'http://127.0.0.1:1/' }]);
  await expect(redirect.client.plans.list()).rejects.toMatchObject({
    code: 'unexpected_response',
    status: 302,
  });
  const nothing = await serve(undefined);
  await expect(nothing.client.plans.list()).rejects.toMatchObject({ code: 'no_response', status: undefined });
  const gone = await serve([204, '']);
  expect(await gone.client.apiKeys.revoke({ keyId: 'k' })).toBeUndefined();
});

it('an entitlement is decided by the policy of its feature when the server does not', async () => {
  const granted = JSON.stringify({ allowed: true, reasonCode: 'granted', reason: 'By a plan.' });
  const { client } = await serve([200, granted], [503, error('unavailable')]);
  const entitlements = createEntitlements({
    client,
    timeoutMs: 100,
    fallback: { known: 'last_known', open: 'open' },
  });
  const check = async (featureKey: string) => {
    const { allowed, source } = await entitlements.check({ customerId: 'a', featureKey, requested: 2 });
    return [allowed, source];
  };
  expect(await check('known')).toEqual([true, 'server']);
  expect(await check('known')).toEqual([true, 'fallback']);
  expect(await check('open')).toEqual([true, 'fallback']);
  expect(await check('other')).toEqual([false, 'fallback']);
});

it('a wrong key is no reason to fall back', async () => {
  const { client } = await serve([401, error('unauthenticated')]);
  const check = createEntitlements({ client, fallback: 'open' }).check({ customerId: 'a', featureKey: 'f' });
  await expect(check).rejects.toMatchObject({ code: 'unauthenticated' });
});

it.each([
  ['an object without it', '{}'],
  ['a text in place of it', '{"allowed":"false"}'],
  ['null', 'null'],
])('%s is no decision: the policy decides, and the last one stays known', async (_, body) => {
  const granted = JSON.stringify({ allowed: true, reasonCode: 'granted', reason: 'By a plan.' });
  const { client } = await serve([200, granted], [200, body]);
  const entitlements = createEntitlements({ client, fallback: { known: 'last_known' } });
  const check = async (featureKey: string) => {
    const { allowed, source } = await entitlements.check({ customerId: 'a', featureKey });
    return [allowed, source];
  };
  expect(await check('known')).toEqual([true, 'server']);
  expect(await check('known')).toEqual([true, 'fallback']);
  expect(await check('other')).toEqual([false, 'fallback']);
});

it('a check that cannot be sent is rejected alone, and no reason to fall back', async () => {
  const granted = JSON.stringify({ allowed: true, reasonCode: 'granted', reason: 'By a plan.' });
  const { client, requests } = await serve([200, granted]);
  const entitlements = createEntitlements({ client });
  for (const customerId of ['', undefined as never, 'a\ud800', 'x'.repeat(129)]) {
    const check = entitlements.check({ customerId, featureKey: 'f' });
    await expect(check).rejects.toMatchObject({ name: 'ApiError', code: 'invalid_request' });
  }
  expect(await entitlements.check({ customerId: 'a', featureKey: 'f' })).toMatchObject({ source: 'server' });
  await entitlements.check({ customerId: 'a', featureKey: 'f', requested: 0.1 + 0.2 });
  expect(requests.at(-1)?.url).toMatch(/\?requested=0\.3$/);
  const half = client.plans.retrieve({ planId: '\ud800' });
  await expect(half).rejects.toMatchObject({ code: 'invalid_request', param: 'planId' });
});
