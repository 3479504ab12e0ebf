import { describe, expect, it } from 'vitest';
import type { ModeKeys } from '../../domain/workspace.ts';
import type { Funnel } from '../../schemas/resources/funnel.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * The funnel over HTTP and a real Postgres.
 *
 * Mutants this suite catches: events counted in place of sessions; a subscription before its checkout
 * counted; the plan ignored in one of the three stages; one WHERE environment dropped; `to` included.
 */
const START_MS = Date.UTC(2026, 2, 1);
const clock = { at: START_MS, nowMs: () => clock.at, monotonicMs: () => 0 };
const iso = (ms: number) => new Date(ms).toISOString();

const api = await apiOfThisFile(undefined, { clock });

interface Site {
  keys: ModeKeys;
  customerId: string;
  plans: [string, string];
}

/** A workspace with a customer and two plans. */
async function newSite(): Promise<Site> {
  const keys = (await api.addWorkspace()).live;
  const key = keys.secret;
  const customerId = (await api.request('customers.create', { key })).body.id;
  const planOf = async (name: string) =>
    (await api.request('createPlan', { key, body: { productId: 'p', name } })).body.id;
  return { keys, customerId, plans: [await planOf('Basic'), await planOf('Pro')] };
}

async function record({ keys }: Site, event: string, sessionId: string, planId?: string): Promise<void> {
  const body = { event, sessionId, ...(planId === undefined ? {} : { planId }) };
  const response = await api.request('funnel.record', { key: keys.publishable, body });
  expect(response.body.id).toMatch(/^fun_[a-z2-7]{26}$/);
}

async function subscribe({ keys, customerId }: Site, sessionId: unknown, planId: string): Promise<void> {
  const body = { customerId, planId, metadata: { sessionId } };
  expect((await api.request('subscriptions.create', { key: keys.secret, body })).status).toBe(201);
}

/** Sessions and rates of the three stages. */
async function funnel({ keys }: Site, query: Record<string, string> = {}) {
  clock.at += 1;
  const { body } = await api.request('funnel.retrieve', { key: keys.secret, query });
  const stages: Funnel['stages'] = body.stages;
  expect(stages.map(({ stage }) => stage)).toEqual(['widget_view', 'checkout_started', 'activated']);
  return stages.map(({ sessions, rate }) => [sessions, rate]);
}

describe('the funnel', () => {
  it('is empty, with rates of 0, where nothing was seen', async () => {
    const site = await newSite();
    expect(await funnel(site)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    await record(site, 'checkout_started', 'a');
    expect(await funnel(site)).toEqual([
      [0, 0],
      [1, 0],
      [0, 0],
    ]);
  });

  it('counts different sessions, each as a share of those that saw the widget', async () => {
    const site = await newSite();
    for (const session of ['a', 'b', 'c', 'd', 'a', 'b']) await record(site, 'widget_view', session);
    for (const session of ['a', 'b', 'a']) await record(site, 'checkout_started', session);
    await subscribe(site, 'a', site.plans[0]);
    await subscribe(site, 'a', site.plans[1]);
    expect(await funnel(site)).toEqual([
      [4, 1],
      [2, 0.5],
      [1, 0.25],
    ]);
  });

  it('is activated by a subscription with the session, at or after its checkout', async () => {
    const site = await newSite();
    await record(site, 'widget_view', 'early');
    await subscribe(site, 'early', site.plans[0]);
    clock.at += 1;
    await record(site, 'checkout_started', 'early');
    await subscribe(site, 'no checkout', site.plans[0]);
    expect((await funnel(site))[2]).toEqual([0, 0]);
    await record(site, 'checkout_started', '7');
    await subscribe(site, 7, site.plans[0]);
    expect((await funnel(site))[2]).toEqual([1, 1]);
  });

  it('of a plan counts its checkouts and subscriptions, and views that name it or none', async () => {
    const site = await newSite();
    const [basic, pro] = site.plans;
    await record(site, 'widget_view', 'a');
    await record(site, 'widget_view', 'b', pro);
    await record(site, 'widget_view', 'c', basic);
    await record(site, 'checkout_started', 'a', pro);
    await record(site, 'checkout_started', 'b', pro);
    await record(site, 'checkout_started', 'c');
    await subscribe(site, 'a', pro);
    await subscribe(site, 'b', basic);
    const sessions = async (query: Record<string, string>) => (await funnel(site, query)).map(([n]) => n);
    expect(await sessions({ planId: pro })).toEqual([2, 2, 1]);
    expect(await sessions({ planId: basic })).toEqual([2, 0, 0]);
    expect(await sessions({ planId: 'plan_unknown' })).toEqual([1, 0, 0]);
    expect(await sessions({})).toEqual([3, 3, 2]);
  });

  it('of a plan is the same by id and by key, whichever the page names', async () => {
    const site = await newSite();
    const [basic, pro] = site.plans;
    await record(site, 'widget_view', 'a', 'pro');
    await record(site, 'checkout_started', 'a', pro);
    await record(site, 'checkout_started', 'b', 'pro');
    await record(site, 'checkout_started', 'c', basic);
    await subscribe(site, 'a', 'pro');
    for (const planId of [pro, 'pro']) {
      expect((await funnel(site, { planId })).map(([sessions]) => sessions)).toEqual([1, 2, 1]);
    }
  });

  it('is of what happened from `from` up to `to`, of the last 30 days by default', async () => {
    const site = await newSite();
    clock.at += 1000;
    const t0 = clock.at;
    await record(site, 'widget_view', 'a');
    clock.at = t0 + 10;
    await record(site, 'checkout_started', 'a');
    clock.at = t0 + 20;
    await subscribe(site, 'a', site.plans[0]);
    const sessions = async (from: number, to: number) =>
      (await funnel(site, { from: iso(from), to: iso(to) })).map(([n]) => n);
    expect(await sessions(t0, t0 + 21)).toEqual([1, 1, 1]);
    expect(await sessions(t0 + 1, t0 + 20)).toEqual([0, 1, 0]);
    expect(await sessions(t0, t0 + 10)).toEqual([1, 0, 0]);
    clock.at = t0 + 30 * 86_400_000 - 1;
    expect((await funnel(site))[0]).toEqual([1, 1]);
    const { body } = await api.request('funnel.retrieve', { key: site.keys.secret });
    expect([body.from, body.to]).toEqual([iso(t0), iso(t0 + 30 * 86_400_000)]);
    expect((await funnel(site))[0]).toEqual([0, 0]);
  });

  it('of one environment contains nothing of another', async () => {
    const [site, other] = [await newSite(), await newSite()];
    await record(site, 'widget_view', 'shared');
    await record(site, 'checkout_started', 'shared');
    await subscribe(other, 'shared', other.plans[0]);
    expect((await funnel(site))[2]).toEqual([0, 0]);
    expect((await funnel(other))[0]).toEqual([0, 0]);
  });

  it.each([
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-01-01' }, 'to'],
    [{ from: '2026-02-01T00:00:00Z', to: '2026-02-01T00:00:00Z' }, 'to'],
    [{ from: '2098-02-01T00:00:00Z' }, 'from'],
    [{ planId: '' }, 'planId'],
  ])('is rejected for %j', async (query, param) => {
    const response = await api.request('funnel.retrieve', { query: query as Record<string, string> });
    expectRejection(response, 'invalid_request', param);
  });
});

describe('a funnel event', () => {
  const rejected: Array<[what: string, body: object, param: string]> = [
    ['`activated`, which is derived', { event: 'activated', sessionId: 's' }, 'event'],
    ['another event', { event: 'click', sessionId: 's' }, 'event'],
    ['no session', { event: 'widget_view' }, 'sessionId'],
    ['an empty session', { event: 'widget_view', sessionId: '' }, 'sessionId'],
    ['a session of 129 characters', { event: 'widget_view', sessionId: 's'.repeat(129) }, 'sessionId'],
    ['a session that is no text', { event: 'widget_view', sessionId: 1 }, 'sessionId'],
    ['a plan that is no text', { event: 'widget_view', sessionId: 's', planId: 7 }, 'planId'],
  ];
  it.each(rejected)('is rejected with %s, and nothing is written', async (_, body, param) => {
    const count = async () => (await api.pool.query('SELECT count(*) FROM funnel_events')).rows[0].count;
    const before = await count();
    expectRejection(await api.request('funnel.record', { body }), 'invalid_request', param);
    expect(await count()).toBe(before);
  });

  it('is one row, and nothing else', async () => {
    const rows = async () => {
      const tables = ['audit_log', 'webhook_events', 'idempotent_answers', 'funnel_events'];
      const counts = tables.map((table) => api.pool.query(`SELECT count(*) FROM ${table}`));
      return (await Promise.all(counts)).map(({ rows: [row] }) => row.count);
    };
    const before = await rows();
    await api.request('funnel.record', { key: api.keys.live.publishable });
    expect(await rows()).toEqual(before.map((count, at) => (at === 3 ? count + 1 : count)));
  });

  it('may be posted with a secret key too, and its session may be any text', async () => {
    const sessions = [`'; DROP TABLE funnel_events; --`, '__proto__', '客户 💡', 's'.repeat(128)];
    for (const sessionId of sessions) {
      expect((await api.request('funnel.record', { body: { event: 'widget_view', sessionId } })).status).toBe(
        201,
      );
    }
  });
});
