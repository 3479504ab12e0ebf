import { describe, expect, it, vi } from 'vitest';
import { environmentOf } from '../../../schemas/primitives/environment.ts';
import { type WatchedFeed, watchFeed } from '../../../tests/support/watch-feed.ts';
import { expectRejection } from '../../api-under-test.ts';
import { usageOfThisFile } from '../../usage/usage-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { secondControlPlaneOfThisFile } from '../second-control-plane-under-test.ts';

/*
 * The feed of a second control plane, next to the one that makes every change, over a real log, Postgres and
 * warehouse. Breaks that it catches: a change that is not told; a customer that is not told after a
 * disconnect; customers of another environment; a stream that stays after its key was revoked.
 */
const usage = await usageOfThisFile();
const { api } = usage;
const made = customerGrantsUnderTest(api);
const plane = await secondControlPlaneOfThisFile(api, {
  warehouse: usage.stores.warehouse,
  logReader: usage.stores.reader,
});
await made.feature('calls', 'metered', 'sum');
await made.feature('sso', 'boolean');
await made.feature('seats', 'limit');

const PATH = '/api/v1/entitlements/feed';
const WAIT = { timeout: 15_000, interval: 20 };
/** Of a change, with a machine that is busy. */
const SOON = { timeout: 5_000, interval: 20 };

function watch(query: string, lastEventId?: string, key = api.keys.live.secret): Promise<WatchedFeed> {
  return watchFeed(`http://127.0.0.1:${plane.port}${PATH}?${query}`, key, lastEventId);
}

const isReady = (feed: WatchedFeed) =>
  vi.waitFor(() => expect(feed.messages.some(({ event }) => event === 'ready')).toBe(true), WAIT);

let used = 0;

async function use(customerId: string, units: bigint) {
  used += 1;
  const occurredAtMs = Date.now();
  const happening = { id: `fed ${used}`, units: units * 10n ** 12n, occurredAtMs, createdAtMs: occurredAtMs };
  const logged = usage.logged({ ...happening, properties: {} }, 'sum');
  await usage.load(await usage.append([{ ...logged, customerId }]));
}

/** As the server decides on each feature that the feed has. */
async function checked(customerId: string, features: string[]) {
  const decisions = features.map(async (key) => {
    const { asOf: _, ...decision } = (await plane.check(customerId, key)).decision;
    return [key, decision] as const;
  });
  return Object.fromEntries(await Promise.all(decisions));
}

describe('the feed of entitlements', () => {
  it('begins with what a check would return, of each customer that it names', async () => {
    const customerId = await made.customer();
    const given = { calls: { value: 100, soft: true }, sso: true, seats: 5 };
    await made.subscribe(customerId, given);
    await use(customerId, 7n);
    const archived = await made.customer();
    await api.request('customers.archive', { params: { customerId: archived } });
    const beganAtMs = Date.now();
    const feed = await watch(
      `customerIds=${customerId},${archived},cus_none,a%252Cb,a%2500&heartbeatSeconds=1`,
    );
    await isReady(feed);
    const [opened] = feed.messages;
    expect(opened?.event).toBe('begin');
    expect(Date.parse(opened?.data.now)).toBeGreaterThanOrEqual(beganAtMs);
    const decisions = await checked(customerId, ['calls', 'sso', 'seats']);
    expect(decisions).toMatchObject({ calls: { current: 7, limit: 100 } });
    expect(feed.customer(customerId)).toEqual({
      status: 'active',
      otherwise: 'feature_not_included',
      decisions,
    });
    const without = { status: 'archived', otherwise: 'customer_archived', decisions: {} };
    expect(feed.customer(archived)).toEqual(without);
    for (const name of ['cus_none', 'a,b', 'a\u0000']) expect(feed.customer(name)?.status).toBe('unknown');
    const [whole] = feed.messages.filter(({ data }) => data.asked === customerId);
    expect(whole?.data).toMatchObject({ customerId, credits: { balance: 0, unpaid: 0 } });
    expect(whole?.data.features[0]).toMatchObject({ meterId: 'sum', aggregation: 'sum', soft: true });
    await vi.waitFor(() => expect(feed.messages.at(-1)?.event).toBe('time'), WAIT);
  });

  it('tells each change of what a customer may do, and of what it has used', async () => {
    const customerId = await made.customer();
    const feed = await watch(`customerIds=${customerId}`);
    await isReady(feed);
    expect(feed.customer(customerId)?.otherwise).toBe('no_active_subscription');
    const useUpTo = async (units: bigint, current: number) => {
      await use(customerId, units);
      const counted = () => expect(feed.customer(customerId)?.decisions.calls).toMatchObject({ current });
      await vi.waitFor(counted, SOON);
    };
    const changes: Array<() => Promise<unknown>> = [
      () => made.subscribe(customerId, { calls: 3, sso: true }),
      () => useUpTo(2n, 2),
      () => made.override(customerId, 'calls', { value: 10 }),
      () => useUpTo(20n, 22),
      () => api.request('credits.grant', { params: { customerId }, body: { amount: 5, reason: 'x' } }),
      () => made.override(customerId, 'sso', { value: false }),
      () => api.request('customers.archive', { params: { customerId } }),
    ];
    for (const change of changes) {
      await change();
      await vi.waitFor(async () => {
        const fed = feed.customer(customerId);
        expect(fed?.decisions).toEqual(await checked(customerId, Object.keys(fed?.decisions ?? {})));
        expect(Object.keys(fed?.decisions ?? {})).toHaveLength((await made.list(customerId)).length);
      }, SOON);
    }
    const names = feed.messages.map(({ event }) => event);
    expect(names.filter((name) => name === 'usage').length).toBeGreaterThanOrEqual(2);
  });

  // Red when a change while the client was disconnected is not told again.
  it('goes on where a client was, and begins again where that is not known', async () => {
    const [changed, same] = [await made.customer(), await made.customer()];
    for (const one of [changed, same]) await made.subscribe(one, { sso: true });
    const names = `customerIds=${changed},${same}`;
    const first = await watch(names);
    await isReady(first);
    await made.override(changed, 'seats', { value: 4 });
    await vi.waitFor(() => expect(first.customer(changed)?.decisions).toHaveProperty('seats'), SOON);
    const id = first.lastEventId();
    await first.close();
    await made.override(changed, 'seats', { value: 6 });
    await vi.waitFor(async () => {
      const again = await watch(names, id);
      await isReady(again);
      expect(again.customer(changed)?.decisions).toMatchObject({ seats: { limit: 6 } });
      expect(again.customer(same)).toBeUndefined();
    }, SOON);
    for (const unknown of ['x.y.z', id?.replace(/^[^.]*/, 'another')]) {
      const again = await watch(names, unknown);
      await isReady(again);
      expect([again.customer(changed), again.customer(same)]).not.toContain(undefined);
    }
    const others = await watch(`customerIds=${same}`, id);
    await isReady(others);
    expect(others.customer(same)?.status).toBe('active');
  });

  it('without names has the customers that are checked, also those to come', async () => {
    const other = await api.addWorkspace();
    const environment = environmentOf(other.workspaceId, 'live');
    const customers = ['cus_fed1', 'cus_fed2'];
    for (const id of customers) {
      await api.pool.query(
        "INSERT INTO customers (id, environment, name, email) VALUES ($1, $2, 'Ann', 'ann@example.com')",
        [id, environment],
      );
    }
    const headers = { authorization: `Bearer ${other.live.secret}` };
    await plane.request(`/entitlements/${customers[0]}/sso`, { headers });
    const feed = await watch('', undefined, other.live.secret);
    await vi.waitFor(() => expect(feed.customer('cus_fed1')?.status).toBe('active'), SOON);
    expect(feed.customer('cus_fed2')).toBeUndefined();
    await plane.request(`/entitlements/${customers[1]}/sso`, { headers });
    await vi.waitFor(() => expect(feed.customer('cus_fed2')?.status).toBe('active'), SOON);
    const names = new Set(feed.messages.flatMap(({ data }) => data.asked ?? []));
    expect([...names].sort()).toEqual(customers);
    const foreign = await watch(`customerIds=${customers.join()}`);
    await isReady(foreign);
    expect(foreign.customer('cus_fed1')?.status).toBe('unknown');
  });

  it('ends with a key that is revoked, and rejects what it cannot read', { timeout: 30_000 }, async () => {
    const key = await api.addKey({ scopes: ['entitlements:read'] });
    const feed = await watch('customerIds=cus_none&heartbeatSeconds=1', undefined, key);
    await api.pool.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key]);
    const payload = JSON.stringify({ kind: 'key', environment: usage.environment, id: key });
    await api.pool.query("SELECT pg_notify('metergate_changes', $1)", [payload]);
    await vi.waitFor(() => expect(feed.isOver()).toBe(true), WAIT);
    const names = Array.from({ length: 501 }, (_, at) => `c${at}`).join();
    for (const query of [`customerIds=${names}`, 'customerIds=', `customerIds=${'x'.repeat(129)}`]) {
      expectRejection(await api.call('GET', `${PATH}?${query}`), 'invalid_request', 'customerIds');
    }
    const invalid = await api.call('GET', `${PATH}?heartbeatSeconds=0`);
    expectRejection(invalid, 'invalid_request', 'heartbeatSeconds');
    const writer = await api.addKey({ scopes: ['usage:write'] });
    expectRejection(await api.call('GET', PATH, { key: writer }), 'insufficient_scope');
    expect((await api.call('HEAD', PATH)).status).toBe(200);
  });
});
