import { beforeEach, describe, expect, it } from 'vitest';
import { expectRejection } from '../api-under-test.ts';
import { NOW_MS, processorOfThisFile } from '../processor/processor-under-test.ts';
import { API_VERSIONS, type ReportedSubscription } from '../processor/stripe-under-test.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Events of the processor and changes made here, in any order.
 *
 * Mutants this suite catches: an event before its link not kept, or applied by arrival; a local change not
 * stamped, or stamped for nothing; `pause_collection` not read; the mode not checked; the times of a test
 * clock rejected, or compared with ours; the order of one clock's times left out.
 */
const made = await processorOfThisFile();

beforeEach(() => {
  made.clock.ms = NOW_MS;
});

let named = 0;
const newId = () => `sub_1Theirs${++named}`;

const notified = (seconds: number, subscription: ReportedSubscription, more: object = {}) =>
  made.notify({ created: made.at(seconds), subscription, ...more });

describe.each(API_VERSIONS)('with payloads of %s', (version) => {
  it('a subscription follows status, period, cancellation, trial and end', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    const [from, to] = [made.at(-86_400), made.at(86_400)];
    const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
    const trial: ReportedSubscription = { id, status: 'trialing', period: [from, to], trialEnd: to };
    await notified(-60, { ...trial, cancelAtPeriodEnd: true }, { version });
    expect(await made.read(ours)).toMatchObject({
      status: 'trialing',
      currentPeriodStart: iso(from),
      currentPeriodEnd: iso(to),
      trialEnd: iso(to),
      cancelAt: iso(to),
    });
    await notified(-50, { id, period: [from, to], paused: true }, { version });
    expect((await made.read(ours)).status).toBe('paused');
    expect(await made.read(ours)).not.toHaveProperty('cancelAt');
    await notified(-40, { id, period: [from, to] }, { version });
    expect((await made.read(ours)).status).toBe('active');
    await notified(-30, { id, endedAt: made.at(-31), status: 'canceled' }, { version, type: 'deleted' });
    expect(await made.read(ours)).toMatchObject({ status: 'canceled', canceledAt: iso(made.at(-31)) });
  });
});

describe('what the processor reports before the link', () => {
  it.each(['POST', 'PATCH'])('is applied by the %s that links, in its own order, at once', async (method) => {
    const id = newId();
    await notified(-10, { id, status: 'past_due' });
    await notified(-30, { id, status: 'incomplete' }, { type: 'created' });
    await notified(-20, { id, status: 'active' });
    expect(await made.outcomes(id)).toHaveLength(3);
    const link = { processorSubscriptionId: id };
    const { id: ours } = await made.subscribe(method === 'POST' ? link : {});
    const linked = method === 'POST' ? await made.read(ours) : await made.patch(ours, link);
    expect(linked.status).toBe('past_due');
    const statuses = (await auditEntries(made.api.pool, ours))
      .filter(({ actor }) => actor === 'processor')
      .map(({ after }) => after?.status);
    expect(statuses).toEqual(['incomplete', 'active', 'past_due']);
    expect((await made.outcomes(id)).map((one) => one.split(' ')[0])).toEqual([
      'unmatched',
      'applied',
      'applied',
    ]);
    await notified(-15, { id, status: 'unpaid' });
    expect((await made.read(ours)).status).toBe('past_due');
  });

  it('is in the response of the POST that links', async () => {
    const id = newId();
    await notified(-10, { id, status: 'canceled' }, { type: 'deleted' });
    expect(await made.subscribe({ processorSubscriptionId: id })).toMatchObject({ status: 'canceled' });
  });

  it('changes nothing once it was applied, however often it comes again', async () => {
    const id = newId();
    const paused = { id: `evt_${id}`, created: made.at(-10), subscription: { id, status: 'paused' } };
    for (let times = 0; times < 3; times += 1) await made.notify(paused);
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    await made.patch(ours, { status: 'active' });
    await made.notify(paused);
    expect((await made.read(ours)).status).toBe('active');
    expect(await made.outcomes(id)).toEqual(['applied older']);
  });

  it('undoes nothing that was changed here after it, before the link', async () => {
    const id = newId();
    await notified(-10, { id });
    const { id: ours } = await made.subscribe();
    await made.cancel(ours);
    expect(await made.patch(ours, { metadata: { a: 'b' } })).toMatchObject({ status: 'canceled' });
    const link = { params: { subscriptionId: ours }, body: { processorSubscriptionId: id } };
    expectRejection(await made.api.request('subscriptions.update', link), 'illegal_transition');
    const { id: other } = await made.subscribe();
    await made.patch(other, { status: 'past_due' });
    expect(await made.patch(other, { processorSubscriptionId: id })).toMatchObject({ status: 'past_due' });
    expect(await made.outcomes(id)).toEqual(['ignored older']);
  });

  it('is not taken again where an earlier release took it', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    const taken = `INSERT INTO processor_events (environment, id, received_at) VALUES ($1, $2, now())`;
    await made.api.pool.query(taken, [made.api.environment, `evt_${id}`]);
    await notified(-10, { id, status: 'paused' }, { id: `evt_${id}` });
    expect((await made.read(ours)).status).toBe('active');
    expect((await made.events()).find((one) => one.id === `evt_${id}`)).toMatchObject({ status: 'applied' });
  });

  it('of one subscription is the newest twenty', async () => {
    const id = newId();
    for (let at = 0; at < 22; at += 1)
      await notified(at - 100, { id, status: at === 0 ? 'unpaid' : 'paused' });
    const outcomes = await made.outcomes(id);
    expect(outcomes.slice(0, 3)).toEqual([
      'ignored given_up',
      'ignored given_up',
      expect.stringMatching('unmatched'),
    ]);
    await made.notify({ created: made.at(-10), subscription: { id, status: 'active' } });
    expect(await made.subscribe({ processorSubscriptionId: id })).toMatchObject({ status: 'active' });
  });
});

describe('a change that is made here', () => {
  const changes: Array<[what: string, change: (ours: string) => Promise<unknown>]> = [
    ['a cancellation', (ours) => made.cancel(ours)],
    ['a status', (ours) => made.patch(ours, { status: 'past_due' })],
    ['a plan', async (ours) => made.patch(ours, { planId: await made.plan() })],
    ['a period', (ours) => made.patch(ours, { currentPeriodEnd: '2026-12-01T00:00:00Z' })],
    ['a cancelAt', (ours) => made.patch(ours, { cancelAt: '2026-12-01T00:00:00Z' })],
    ['a trialEnd', (ours) => made.patch(ours, { trialEnd: '2026-12-01T00:00:00Z' })],
    [
      'an add-on',
      async (subscriptionId) => {
        const params = { subscriptionId, addonId: await made.addon() };
        await made.api.request('subscriptions.setAddon', { params, body: { quantity: 2 } });
      },
    ],
  ];
  it.each(changes)(
    '%s is not undone by an event of before, and followed by one after it',
    async (_, change) => {
      const id = newId();
      const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
      await change(ours);
      const seen = await made.read(ours);
      await notified(-1, { id, status: 'unpaid', cancelAt: made.at(9_000_000) });
      expect(await made.read(ours)).toEqual(seen);
      await notified(1, { id, status: 'unpaid' });
      expect((await made.read(ours)).status).toBe('unpaid');
      expect(await made.outcomes(id)).toEqual(['ignored older', 'unmatched price_not_mapped']);
    },
  );

  it('counts within its second like an event of the processor that came then', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    made.clock.ms += 900;
    await made.cancel(ours);
    await notified(0, { id, status: 'active' });
    expect((await made.read(ours)).status).toBe('canceled');
    const { id: other } = await made.subscribe({ processorSubscriptionId: newId() });
    const { processorSubscriptionId: second } = await made.patch(other, { status: 'past_due' });
    await notified(0, { id: second, status: 'incomplete' }, { type: 'created' });
    expect((await made.read(other)).status).toBe('past_due');
    await notified(0, { id: second, status: 'canceled' }, { type: 'deleted' });
    expect((await made.read(other)).status).toBe('canceled');
  });

  it('to the value it has, or of the metadata, delays no event', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    await made.patch(ours, { status: 'active', metadata: { a: 'b' } });
    await notified(-1, { id, status: 'unpaid' });
    expect((await made.read(ours)).status).toBe('unpaid');
  });

  it('and events of before in any number at once leave what was changed, or what came after it', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    const events = [-3, -2, -1].map((at) => notified(at, { id, status: 'past_due' }));
    await Promise.all([made.cancel(ours), ...events]);
    expect((await made.read(ours)).status).toBe('canceled');
  });
});

describe('an event of the other mode', () => {
  it('is rejected with a hint where it belongs, and nothing of it is kept', async () => {
    const id = newId();
    const subscription = { id };
    for (const [livemode, mode] of [
      [false, 'live'],
      [true, 'test'],
    ] as const) {
      const response = await made.send({ created: made.at(0), livemode, subscription }, mode);
      expectRejection(response, 'invalid_request', 'livemode');
      expect(response.body.error.message).toContain(`/${livemode ? 'live' : 'test'}`);
    }
    const { rows } = await made.api.pool.query(
      'SELECT FROM processor_events WHERE processor_subscription_id = $1',
      [id],
    );
    expect(rows).toEqual([]);
  });
});

describe('a test clock', () => {
  const YEARS = 400 * 86_400;
  const testClock = 'clock_1';

  async function simulated() {
    const id = newId();
    const key = made.api.keys.test.secret;
    const customer = (await made.api.request('customers.create', { key })).body.id;
    const plan = (await made.api.request('createPlan', { key, body: { productId: 'p', name: 'P' } })).body.id;
    const body = { customerId: customer, planId: plan, processorSubscriptionId: id };
    const { id: subscriptionId } = (await made.api.request('subscriptions.create', { key, body })).body;
    const params = { subscriptionId };
    return {
      id,
      subscriptionId,
      status: async () => (await made.api.request('subscriptions.retrieve', { key, params })).body.status,
      pause: () => made.api.request('subscriptions.update', { key, params, body: { status: 'paused' } }),
      notify: (seconds: number, status: string) =>
        made.notify({
          created: NOW_MS / 1000 + seconds,
          livemode: false,
          subscription: { id, status, testClock },
        }),
    };
  }

  it.each([YEARS, -YEARS])(
    'may be %d seconds from now: its times are ordered among themselves',
    async (far) => {
      const one = await simulated();
      await one.notify(far, 'trialing');
      await one.notify(far + 86_400, 'active');
      await one.notify(far + 3_600, 'past_due');
      expect(await one.status()).toBe('active');
      await one.notify(far + 2 * 86_400, 'past_due');
      expect(await one.status()).toBe('past_due');
    },
  );

  it.each([YEARS, -YEARS])('that is %d seconds from now continues after a change here', async (far) => {
    const one = await simulated();
    await one.notify(far, 'active');
    made.clock.ms += 1_000;
    await one.pause();
    await one.notify(far - 1, 'past_due');
    expect(await one.status()).toBe('paused');
    made.clock.ms += 1_000;
    await one.notify(far + 60, 'active');
    expect(await one.status()).toBe('active');
  });

  it('starts at the time of the processor, and overdue days are counted by that of the server', async () => {
    const one = await simulated();
    await one.notify(-YEARS, 'past_due');
    const sql = 'SELECT status_since AS since FROM subscriptions WHERE id = $1';
    const { rows } = await made.api.pool.query<{ since: Date }>(sql, [one.subscriptionId]);
    expect(rows).toEqual([{ since: new Date(made.clock.ms) }]);
  });
});

describe('what is taken', () => {
  it('notifies each change once, with its event', async () => {
    const id = newId();
    const { id: ours } = await made.subscribe({ processorSubscriptionId: id });
    for (const at of [-3, -2, -1])
      await notified(at, { id, status: 'past_due', period: [made.at(0), made.at(9)] });
    const types = (await emittedEvents(made.api.pool, ours)).map(({ type }) => type);
    expect(types).toEqual(['subscription.created', 'subscription.updated']);
  });
});
