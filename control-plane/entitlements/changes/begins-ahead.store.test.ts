import { describe, expect, it } from 'vitest';
import { apiOfThisFile } from '../../api-under-test.ts';
import { auditEntries, emittedEvents } from '../../subscriptions/subscriptions-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { notifiedUnderTest } from './changes-under-test.ts';

/*
 * What a subscription will be later: one that begins in the future, and a plan that waits for the end of the
 * period, with checks from the cache and the events of both.
 *
 * Mutants this suite catches: the start ignored in resolve-entitlements.ts or in
 * control-plane/store/granted-values.ts; a future start left out of the next change, in the cache
 * (nextTurnMs) or in what was notified (`next_turn`); a pending plan dropped with the roll, applied before
 * it, or not notified.
 */
const DAY_MS = 86_400_000;
const clock = { aheadMs: 0, nowMs: () => Date.now() + clock.aheadMs, monotonicMs: () => performance.now() };

const api = await apiOfThisFile(undefined, { clock });
const made = customerGrantsUnderTest(api);
const notified = notifiedUnderTest(api.pool, api.environment);
const eventsLater = (customerId: string) => notified.eventsLater(customerId, 20_000);
await made.features({ sso: 'boolean', seats: 'limit' });

describe('a subscription that begins in 40 days', () => {
  it('entitles from then on and not before, and is notified of then', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true }, { currentPeriodStart: inDays(40) });
    const allowed = () => check(customerId);
    expect(await allowed()).toEqual([false, 'no_active_subscription']);
    expect(await made.list(customerId)).toEqual([]);
    pass(40 * DAY_MS - 60_000);
    expect(await allowed()).toEqual([false, 'no_active_subscription']);
    await notified.quiet();
    expect(await notified.events(customerId)).toEqual([]);
    pass(60_001);
    // The cache changes with time alone, whenever the event is written.
    expect(await allowed()).toEqual([true, 'granted']);
    expect(await eventsLater(customerId)).toEqual([changed('sso', true, customerId)]);
    expect(await typesOf(id)).toEqual(['subscription.created']);
  });

  it('trials from then on', async () => {
    const customerId = await made.customer();
    const trial = { currentPeriodStart: inDays(40), trialEnd: inDays(54) };
    const id = await made.subscribe(customerId, { sso: true }, trial);
    const { body } = await api.request('subscriptions.retrieve', { params: { subscriptionId: id } });
    expect(body).toMatchObject({ ...trial, status: 'trialing', currentPeriodEnd: trial.trialEnd });
    expect(await check(customerId)).toEqual([false, 'no_active_subscription']);
    pass(40 * DAY_MS);
    expect(await check(customerId)).toEqual([true, 'granted']);
    expect(await eventsLater(customerId)).toEqual([changed('sso', true, customerId)]);
  });

  it('and is canceled before entitles to nothing, then or ever', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true }, { currentPeriodStart: inDays(40) });
    await made.cancel(id, 'now');
    pass(41 * DAY_MS);
    expect(await check(customerId)).toEqual([false, 'no_active_subscription']);
    await notified.quiet();
    expect(await notified.events(customerId)).toEqual([]);
    expect(await typesOf(id)).toEqual(['subscription.canceled', 'subscription.created']);
  });

  it('may be moved, and begins when it was moved to', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true }, { currentPeriodStart: inDays(10) });
    await made.change(id, { currentPeriodStart: inDays(20), currentPeriodEnd: inDays(50) });
    pass(11 * DAY_MS);
    expect(await check(customerId)).toEqual([false, 'no_active_subscription']);
    await made.change(id, { currentPeriodStart: inDays(-1) });
    expect(await check(customerId)).toEqual([true, 'granted']);
    await notified.quiet();
    expect(await notified.events(customerId)).toEqual([changed('sso', true, customerId)]);
  });
});

describe('a period that is moved ahead', () => {
  it('removes what was granted before, until it begins', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true });
    await made.change(id, { currentPeriodStart: inDays(5) });
    expect(await check(customerId)).toEqual([false, 'no_active_subscription']);
    await notified.quiet();
    const events = await notified.events(customerId);
    expect(events.map(({ allowed }) => allowed).sort()).toEqual([false, true]);
    pass(5 * DAY_MS + 1);
    expect(await check(customerId)).toEqual([true, 'granted']);
  });

  it('and follows the running one removes nothing', async () => {
    const customerId = await made.customer();
    const end = inDays(10);
    const id = await made.subscribe(customerId, { sso: true }, { currentPeriodEnd: end });
    await notified.quiet();
    await notified.events(customerId);
    await made.change(id, { currentPeriodStart: end, currentPeriodEnd: inDays(40) });
    expect(await check(customerId)).toEqual([true, 'granted']);
    await notified.quiet();
    expect(await notified.events(customerId)).toEqual([]);
  });
});

describe('a plan that waits for the end of the period', () => {
  it('is taken with the roll, as one change, and notified like any other', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true, seats: 5 }, { currentPeriodEnd: inDays(3) });
    const planId = await made.plan({ seats: 9 });
    const before = await made.change(id, { planId, at: 'period_end' });
    expect(before).toMatchObject({ pendingPlanId: planId, currentPeriodEnd: before.billingAnchor });
    await api.request('plans.archive', { params: { planId } });
    await notified.quiet();
    await notified.events(customerId);
    pass(3 * DAY_MS - 60_000);
    expect(await check(customerId)).toEqual([true, 'granted']);
    pass(60_001);
    expect(await eventsLater(customerId)).toEqual([
      changed('seats', 9, customerId),
      { customerId, featureKey: 'sso', allowed: false, effectiveValue: false },
    ]);
    const { body: after } = await api.request('subscriptions.retrieve', { params: { subscriptionId: id } });
    expect(after).toMatchObject({ planId, currentPeriodStart: before.currentPeriodEnd });
    expect(after).not.toHaveProperty('pendingPlanId');
    expect(await typesOf(id)).toEqual([
      'subscription.created',
      'subscription.updated',
      'subscription.updated',
    ]);
    expect(await typesOf(customerId, 'customer.updated')).toHaveLength(2);
    expect((await auditEntries(api.pool, id)).map(({ actor, action }) => [actor, action]).at(-1)).toEqual([
      'clock',
      'subscriptions.rollPeriod',
    ]);
  });

  it('covers usage from the end of the period on, however late the clock comes', async () => {
    await made.meteredFeature('calls');
    const customerId = await made.customer();
    const end = inDays(3);
    const id = await made.subscribe(customerId, { calls: 5 }, { currentPeriodEnd: end });
    const planId = await made.plan({ calls: 9 });
    await made.change(id, { planId, at: 'period_end' });
    pass(4 * DAY_MS);
    const params = { subscriptionId: id };
    const planNow = async () => (await api.request('subscriptions.retrieve', { params })).body.planId;
    await expect.poll(planNow, { timeout: 20_000, interval: 50 }).toBe(planId);
    const { rows } = await api.pool.query(
      `SELECT starts_at AS since, limits::text FROM metered_terms
        WHERE customer_id = $1 ORDER BY starts_at DESC LIMIT 1`,
      [customerId],
    );
    expect(rows).toEqual([{ since: new Date(end), limits: '{9}' }]);
  });

  it('is taken with the end of a trial, and never by what is canceled then', async () => {
    const planId = await made.plan({ seats: 9 });
    const trial = { trialEnd: inDays(3) };
    const [goesOn, ends] = [await made.customer(), await made.customer()];
    const lasting = await made.subscribe(goesOn, { sso: true }, trial);
    const canceled = await made.subscribe(ends, { sso: true }, trial);
    for (const id of [lasting, canceled]) await made.change(id, { planId, at: 'period_end' });
    await made.cancel(canceled, 'period_end');
    await notified.quiet();
    for (const customerId of [goesOn, ends]) await notified.events(customerId);
    pass(3 * DAY_MS + 1);
    const lost = { featureKey: 'sso', allowed: false, effectiveValue: false };
    expect(await eventsLater(goesOn)).toEqual([changed('seats', 9, goesOn), { customerId: goesOn, ...lost }]);
    expect(await eventsLater(ends)).toEqual([{ customerId: ends, ...lost }]);
    const { body } = await api.request('subscriptions.retrieve', { params: { subscriptionId: canceled } });
    expect(body).toMatchObject({ status: 'canceled', canceledAt: trial.trialEnd });
    expect(body.planId).not.toBe(planId);
  });
});

it('what was notified equals what is granted, for every customer', async () => {
  await notified.quiet();
  expect(await notified.untrue(clock.nowMs())).toEqual([]);
});

/** Time passes. */
function pass(ms: number): void {
  clock.aheadMs += ms;
}

async function check(customerId: string) {
  const { allowed, reasonCode } = await made.check(customerId, 'sso');
  return [allowed, reasonCode];
}

async function typesOf(objectId: string, only?: string): Promise<string[]> {
  const types = (await emittedEvents(api.pool, objectId)).map(({ type }) => type);
  return types.filter((type) => only === undefined || type === only).sort();
}

function changed(featureKey: string, effectiveValue: boolean | number, customerId: string) {
  return { customerId, featureKey, allowed: true, effectiveValue };
}

function inDays(days: number): string {
  return new Date(clock.nowMs() + days * DAY_MS).toISOString();
}
