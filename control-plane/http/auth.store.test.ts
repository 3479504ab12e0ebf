import { describe, expect, it } from 'vitest';
import { newApiKey } from '../../domain/rules/api-key.ts';
import type { WorkspaceKeys } from '../../domain/workspace.ts';
import type { Route } from '../../schemas/route.ts';
import { ROUTES } from '../../schemas/routes.ts';
import { SCOPES } from '../../schemas/scopes.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * Keys and scopes over HTTP and a real Postgres.
 *
 * Mutants this suite catches: revoked_at or expires_at not checked; the scope not checked for one access.
 */
const METERS = '/api/v1/meters';

const api = await apiOfThisFile();

describe('a key', () => {
  it('may come in either header, and twice only when it is the same', async () => {
    const key = api.keys.live.secret;
    const both = (a: string, b: string) => ({ headers: { authorization: `Bearer ${a}`, 'x-api-key': b } });
    expect((await api.call('GET', METERS, { key: undefined, headers: { 'x-api-key': key } })).status).toBe(
      200,
    );
    expect((await api.call('GET', METERS, both(key, key))).status).toBe(200);
    expectRejection(await api.call('GET', METERS, both(key, api.keys.test.secret)), 'unauthenticated');
    const basic = await api.call('GET', METERS, { headers: { authorization: 'Basic eDp5' } });
    expectRejection(basic, 'unauthenticated');
  });

  it('is rejected when it is unknown, revoked or expired', async () => {
    const past = new Date(Date.now() - 1000);
    expectRejection(await api.call('GET', METERS, { key: newApiKey('secret', 'live') }), 'unauthenticated');
    const revoked = await api.call('GET', METERS, { key: await api.addKey({ revokedAt: past }) });
    expectRejection(revoked, 'key_revoked');
    const expired = await api.call('GET', METERS, { key: await api.addKey({ expiresAt: past }) });
    expectRejection(expired, 'key_expired');
  });

  it('needs the scope of the operation, whichever it is', async () => {
    const guarded = Object.values<Route>(ROUTES).filter(
      ({ plane, access }) => plane === 'control' && SCOPES.some((scope) => scope === access),
    );
    expect(guarded.length).toBeGreaterThan(5);
    for (const { method, path, access } of guarded) {
      const concrete = path.replace(/\{\w+\}/g, 'x');
      const key = await api.addKey({ scopes: SCOPES.filter((scope) => scope !== access) });
      expectRejection(await api.call(method, concrete, { key }), 'insufficient_scope');
      const publishable = api.keys.live.publishable;
      expectRejection(await api.call(method, concrete, { key: publishable }), 'publishable_key_not_allowed');
    }
  });

  it('stamps the first call of its workspace, once', async () => {
    const [used, fresh] = [await api.addWorkspace(), await api.addWorkspace()];
    const stampOf = async ({ workspaceId }: WorkspaceKeys) =>
      (await api.pool.query('SELECT first_api_call_at AS at FROM workspaces WHERE id = $1', [workspaceId]))
        .rows[0].at;
    const longAgo = new Date('2020-01-01T00:00:00Z');
    await api.pool.query('UPDATE workspaces SET first_api_call_at = $2 WHERE id = $1', [
      used.workspaceId,
      longAgo,
    ]);
    await api.call('GET', METERS, { key: used.live.secret });
    await api.call('GET', METERS, { key: fresh.test.secret });
    await expect.poll(() => stampOf(fresh), { timeout: 20_000 }).toBeInstanceOf(Date);
    expect(await stampOf(used)).toEqual(longAgo);
  });
});

/*
 * Red when the other mode is not searched; when it is searched in every workspace; when an unknown name is
 * reported as existing.
 */
describe('an object that is not found', () => {
  const existsIn = (response: { body: { error: { details?: { existsIn?: string } } } }) =>
    response.body.error.details?.existsIn;

  it('is reported as existing in the other mode of the same workspace, by any of its names', async () => {
    const { live, test } = await api.addWorkspace();
    const body = { name: 'Ada', email: 'ada@example.com', externalId: 'ada' };
    const customer = (await api.request('customers.create', { key: live.secret, body })).body;
    const plan = (await api.request('createPlan', { key: test.secret })).body;
    const endpoint = (await api.request('createWebhookEndpoint', { key: live.secret })).body;
    for (const name of [customer.id, 'ada']) {
      const requested = await api.call('GET', `/api/v1/customers/${name}`, { key: test.secret });
      expectRejection(requested, 'customer_not_found', 'customerId');
      expect(existsIn(requested)).toBe('live');
      expect(requested.body.error.message).toBe(
        `There is no customer ${name} in test mode; one with this id exists in live mode.`,
      );
    }
    const made = { customerId: customer.id, planId: plan.id };
    const subscribed = await api.call('POST', '/api/v1/subscriptions', { key: live.secret, body: made });
    expectRejection(subscribed, 'plan_not_found', 'planId');
    expect(existsIn(subscribed)).toBe('test');
    const usage = await api.call('GET', `/api/v1/usage/${customer.id}/calls`, { key: test.secret });
    expect([usage.status, existsIn(usage)]).toEqual([404, 'live']);
    const path = `/api/v1/webhooks/endpoints/${endpoint.id}`;
    const deleted = await api.call('DELETE', path, { key: test.secret });
    expectRejection(deleted, 'endpoint_not_found', 'endpointId');
    expect(existsIn(deleted)).toBe('live');
    expect((await api.call('GET', path, { key: live.secret })).status).toBe(200);
  });

  it('is in no message for another workspace, in either mode, nor for an unknown name', async () => {
    const [mine, theirs] = [await api.addWorkspace(), await api.addWorkspace()];
    const { id } = (await api.request('customers.create', { key: theirs.live.secret })).body;
    const unknown = `cus_${'a'.repeat(26)}`;
    const notified = async (name: string, key: string) => {
      const response = await api.call('GET', `/api/v1/customers/${name}`, { key });
      expectRejection(response, 'customer_not_found', 'customerId');
      const { requestId: _, ...error } = response.body.error;
      return JSON.stringify(error).replace(name, 'NAME');
    };
    const responses = [mine.live.secret, mine.test.secret].flatMap((key) => [
      notified(id, key),
      notified(unknown, key),
    ]);
    expect(new Set(await Promise.all(responses)).size).toBe(1);
  });
});
