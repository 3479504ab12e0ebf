import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { type ApiResponse, apiOfThisFile, expectRejection } from '../api-under-test.ts';

/*
 * Events of the payment processor over HTTP and a real Postgres, signed by the official
 * package.
 *
 * Mutants this suite catches: the signature not checked; the body, or an Idempotency-Key, read before it; an
 * older event applied; a replay applied; the second's own order left out; the status checked by our own
 * transition table; another environment's subscription read.
 */
const SECRET = 'whsec_processor';
const T0 = Math.floor(Date.UTC(2026, 5, 1) / 1000);
/** Far enough in the future that the subscription clock does not move it. */
const FAR = Math.floor(Date.UTC(2090, 0, 1) / 1000);
const clock = { nowMs: () => Date.UTC(2026, 5, 2), monotonicMs: () => 0 };

const api = await apiOfThisFile(undefined, { clock });
const body = { action: 'set_webhook_secret', secret: SECRET };
await api.request('connectProcessor', { body });
const customerId = (await api.request('customers.create')).body.id;
const planId = (await api.request('createPlan', { body: { productId: 'p', name: 'Pro' } })).body.id;

let made = 0;

/** A subscription of ours that the processor knows by another id. */
async function subscribe(fields: object = {}): Promise<{ id: string; theirs: string }> {
  made += 1;
  const theirs = `sub_processor_${made}`;
  const body = { customerId, planId, processorSubscriptionId: theirs, ...fields };
  const { body: subscription } = await api.request('subscriptions.create', { body });
  return { id: subscription.id, theirs };
}

interface Notified {
  id?: string;
  type?: string;
  /** Seconds. */
  at: number;
  object: object;
}

function eventText({ id = `evt_${++made}`, type = 'updated', at, object }: Notified): string {
  const subscription = { status: 'active', ...object };
  const whole = { id, type: `customer.subscription.${type}`, created: at, data: { object: subscription } };
  return JSON.stringify(whole);
}

interface Sending {
  secret?: string;
  path?: string;
  headers?: Record<string, string>;
  atMs?: number;
}

function send(payload: string, { secret = SECRET, path, headers, atMs = clock.nowMs() }: Sending = {}) {
  const timestamp = Math.floor(atMs / 1000);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  const at = path ?? `${api.keys.workspaceId}/live`;
  return api.call('POST', `/api/v1/integrations/processor/webhooks/${at}`, {
    key: undefined,
    body: payload,
    headers: { 'stripe-signature': signature, ...headers },
  });
}

async function notify(notified: Notified): Promise<void> {
  const response = await send(eventText(notified));
  expect([response.status, response.body]).toEqual([200, { received: true }]);
}

const read = async (subscriptionId: string) =>
  (await api.request('subscriptions.retrieve', { params: { subscriptionId } })).body;

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

/** Types of the events emitted for it, sorted. */
async function eventsOf(subscriptionId: string): Promise<string[]> {
  const sql = `SELECT type FROM webhook_events WHERE body LIKE '%' || $1 || '%' ORDER BY created_at, id`;
  return (await api.pool.query(sql, [subscriptionId])).rows.map(({ type }) => type).sort();
}

describe('a signed call', () => {
  const rejectedAlike: Array<[what: string, sending: () => Sending]> = [
    ['under another secret', () => ({ secret: 'whsec_other' })],
    ['of an unknown workspace', () => ({ path: `ws_${'a'.repeat(26)}/live` })],
    ['of a mode that there is not', () => ({ path: `${api.keys.workspaceId}/staging` })],
    ['of a mode without a secret', () => ({ path: `${api.keys.workspaceId}/test` })],
    ['without a signature', () => ({ headers: { 'stripe-signature': '' } })],
    ['with half a signature', () => ({ headers: { 'stripe-signature': `t=${clock.nowMs() / 1000}` } })],
    ['that is stale', () => ({ atMs: clock.nowMs() - 301_000 })],
    ['from the future', () => ({ atMs: clock.nowMs() + 301_000 })],
    [
      'that only has a key',
      () => ({ secret: 'x', headers: { authorization: `Bearer ${api.keys.live.secret}` } }),
    ],
    ['repeated under a key', () => ({ secret: 'x', headers: { 'idempotency-key': 'repeated' } })],
  ];

  it.each(rejectedAlike)('%s is rejected in the same words, whatever its body', async (_, sending) => {
    const { id, theirs } = await subscribe();
    await send(eventText({ at: T0, object: { id: theirs } }), { headers: { 'idempotency-key': 'repeated' } });
    const bodies = [eventText({ at: T0 + 1, object: { id: theirs, status: 'unpaid' } }), '{"id":', '[]', ' '];
    const responses: ApiResponse[] = [];
    for (const body of bodies) responses.push(await send(body, sending()));
    for (const response of responses) expectRejection(response, 'signature_invalid');
    expect(new Set(responses.map(({ body }) => body.error.message)).size).toBe(1);
    expect((await read(id)).status).toBe('active');
  });

  it('is read only after its signature is verified', async () => {
    expectRejection(await send('{"id":'), 'invalid_json');
    expectRejection(await send('[]'), 'invalid_request');
    const strange = eventText({ at: T0, object: { id: 'x', status: 'frozen' } });
    expectRejection(await send(strange), 'invalid_request', 'data.object.status');
  });

  it('gets a response and is not kept where it is of another type', async () => {
    const rows = async () => (await api.pool.query('SELECT count(*) FROM processor_events')).rows[0].count;
    const before = await rows();
    const invoice = JSON.stringify({ id: 'evt_i', type: 'invoice.paid', created: T0, data: { object: {} } });
    expect((await send(invoice)).status).toBe(200);
    expect(await rows()).toBe(before);
  });

  it('of one environment moves nothing of another that has the same processor id', async () => {
    const key = api.keys.test.secret;
    const theirs = 'sub_of_two_environments';
    const customer = (await api.request('customers.create', { key })).body.id;
    const plan = (await api.request('createPlan', { key, body: { productId: 'p', name: 'P' } })).body.id;
    const body = { customerId: customer, planId: plan, processorSubscriptionId: theirs };
    const subscriptionId = (await api.request('subscriptions.create', { key, body })).body.id;
    const { id } = await subscribe({ processorSubscriptionId: theirs });
    await notify({ at: T0, object: { id: theirs, status: 'paused' } });
    const seen = await api.request('subscriptions.retrieve', { key, params: { subscriptionId } });
    expect([seen.body.status, (await read(id)).status]).toEqual(['active', 'paused']);
  });
});

describe('a subscription', () => {
  it('takes status, period, cancelAt and trialEnd, with one event and one audit entry', async () => {
    const { id, theirs } = await subscribe();
    const item = { current_period_start: T0, current_period_end: T0 + 86_400 };
    const object = {
      id: theirs,
      status: 'past_due',
      items: { data: [item] },
      cancel_at: FAR,
      trial_end: FAR,
    };
    await notify({ at: T0, object });
    expect(await read(id)).toMatchObject({
      status: 'past_due',
      currentPeriodStart: iso(T0),
      currentPeriodEnd: iso(T0 + 86_400),
      cancelAt: iso(FAR),
      trialEnd: iso(FAR),
    });
    expect(await eventsOf(id)).toEqual(['subscription.created', 'subscription.updated']);
    const sql = 'SELECT actor, action FROM audit_log WHERE object_id = $1 ORDER BY id DESC LIMIT 1';
    const { rows } = await api.pool.query(sql, [id]);
    expect(rows).toEqual([{ actor: 'processor', action: 'processor.receiveEvent' }]);
    await notify({ at: T0 + 1, object: { id: theirs, cancel_at: null } });
    expect(await read(id)).not.toHaveProperty('cancelAt');
  });

  it('takes a period as reported, and a plan that waits with the next one', async () => {
    const later = (await api.request('createPlan', { body: { productId: 'p', name: 'Later' } })).body.id;
    const ahead = { currentPeriodStart: iso(T0 + 9 * 86_400), currentPeriodEnd: iso(T0 + 40 * 86_400) };
    const { id, theirs } = await subscribe({ interval: 'year', ...ahead });
    const waits = { planId: later, at: 'period_end' };
    await api.request('subscriptions.update', { params: { subscriptionId: id }, body: waits });
    const notifying = (at: number, from: number, to: number) =>
      notify({ at, object: { id: theirs, current_period_start: from, current_period_end: to } });
    const end = T0 + 45 * 86_400;
    const at = clock.nowMs() / 1000 + 1;
    await notifying(at, T0 + 9 * 86_400, end);
    const shown = { interval: 'year', intervalCount: 1, billingAnchor: iso(end) };
    expect(await read(id)).toMatchObject({ ...shown, planId, pendingPlanId: later });
    // Its clock is ahead of ours: a change that it reports has begun.
    await notifying(at + 1, end, end + 365 * 86_400);
    expect(await read(id)).toMatchObject({ ...shown, planId: later, currentPeriodStart: iso(end) });
    expect(await read(id)).not.toHaveProperty('pendingPlanId');
    const { rows } = await api.pool.query('SELECT starts_at FROM subscriptions WHERE id = $1', [id]);
    expect(rows[0].starts_at.getTime()).toBeLessThanOrEqual(clock.nowMs());
  });

  it('is canceled when the processor deletes it, at the time that it names', async () => {
    const { id, theirs } = await subscribe();
    await notify({ type: 'deleted', at: T0, object: { id: theirs, status: 'active', ended_at: T0 - 7 } });
    const canceledAt = new Date((T0 - 7) * 1000).toISOString();
    expect(await read(id)).toMatchObject({ status: 'canceled', canceledAt });
    expect(await eventsOf(id)).toEqual(['subscription.canceled', 'subscription.created']);
  });

  it('changes to the status of the processor, also against the transition table', async () => {
    const { id, theirs } = await subscribe();
    const params = { subscriptionId: id };
    await api.request('subscriptions.cancel', { params, body: {} });
    expect((await read(id)).status).toBe('canceled');
    const at = clock.nowMs() / 1000 + 1;
    await notify({ at, object: { id: theirs, status: 'trialing', trial_end: FAR } });
    expect(await read(id)).toMatchObject({ status: 'trialing' });
    expect(await read(id)).not.toHaveProperty('canceledAt');
    await notify({ at: at + 1, object: { id: theirs, status: 'incomplete' } });
    expect((await read(id)).status).toBe('incomplete');
  });

  it('keeps its fields if the event has the same or none, and sends no notification', async () => {
    const { id, theirs } = await subscribe();
    const before = await read(id);
    await notify({ at: T0, object: { id: theirs } });
    await notify({ at: T0 + 1, type: 'trial_will_end', object: { id: theirs, current_period_start: T0 } });
    expect(await read(id)).toEqual(before);
    expect(await eventsOf(id)).toEqual(['subscription.created']);
  });

  it('follows the newest event, in whatever order events come and however often', async () => {
    const { id, theirs } = await subscribe();
    const notified = ['past_due', 'unpaid', 'active', 'paused'].map((status, at) =>
      eventText({ id: `evt_order_${at}`, at: T0 + at, object: { id: theirs, status } }),
    );
    for (const at of [2, 0, 3, 3, 1, 2, 0]) expect((await send(notified[at] ?? '')).status).toBe(200);
    expect((await read(id)).status).toBe('paused');
    expect((await eventsOf(id)).length).toBe(2);
  });

  it('is not moved by a replay of the newest event after it was changed here', async () => {
    const { id, theirs } = await subscribe();
    const paused = eventText({ at: T0, object: { id: theirs, status: 'paused' } });
    await send(paused);
    await api.request('subscriptions.update', { params: { subscriptionId: id }, body: { status: 'active' } });
    await Promise.all([send(paused), send(paused)]);
    expect((await read(id)).status).toBe('active');
  });

  it('within one second begins with its creation and ends with its end, else by arrival', async () => {
    const { id, theirs } = await subscribe();
    const at = T0;
    const moves: Array<[type: string, status: string, seen: string]> = [
      ['updated', 'past_due', 'past_due'],
      ['created', 'incomplete', 'past_due'],
      ['paused', 'paused', 'paused'],
      ['deleted', 'canceled', 'canceled'],
      ['updated', 'active', 'canceled'],
    ];
    for (const [type, status, seen] of moves) {
      await notify({ type, at, object: { id: theirs, status } });
      expect((await read(id)).status).toBe(seen);
    }
    await notify({ at: at + 1, object: { id: theirs, status: 'active' } });
    expect((await read(id)).status).toBe('active');
  });

  it('is not frozen by an event from the future, which is rejected', async () => {
    const { id, theirs } = await subscribe();
    const ahead = Math.floor(clock.nowMs() / 1000) + 301;
    const rejected = await send(eventText({ at: ahead, object: { id: theirs, status: 'paused' } }));
    expectRejection(rejected, 'invalid_request', 'created');
    await notify({ at: ahead - 1, object: { id: theirs, status: 'past_due' } });
    expect((await read(id)).status).toBe('past_due');
  });

  it('is moved once by copies of one event that come at the same time', async () => {
    const { id, theirs } = await subscribe();
    const text = eventText({ at: T0, object: { id: theirs, status: 'unpaid' } });
    const responses = await Promise.all(Array.from({ length: 8 }, () => send(text)));
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await eventsOf(id)).toEqual(['subscription.created', 'subscription.updated']);
  });
});
