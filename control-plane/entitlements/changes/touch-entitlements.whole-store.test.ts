import { beforeEach, describe, expect, it } from 'vitest';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { apiOfThisFile } from '../../api-under-test.ts';
import { takeEvent } from '../../processor/take-event.ts';
import { auditEntries } from '../../subscriptions/subscriptions-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { notifiedUnderTest } from './changes-under-test.ts';

/*
 * `entitlement.changed` over HTTP and a real Postgres: one event for each feature whose value
 * differs, none where it stays, whatever caused the change.
 *
 * Mutants this suite catches: any one call of touchEntitlements left out; an event for each granted feature
 * in place of each changed one; what was notified not written; `next_turn` not kept, or not checked; an
 * expired override recorded by the notifier alone, or each time.
 */
const DAY_MS = 86_400_000;
const clock = { aheadMs: 0, nowMs: () => Date.now() + clock.aheadMs, monotonicMs: () => performance.now() };

let customerId: string;
let subscriptionId: string;

const api = await apiOfThisFile(undefined, { clock });
const { environment } = api;
const made = customerGrantsUnderTest(api);
const notified = notifiedUnderTest(api.pool, environment);
await made.features({ sso: 'boolean', seats: 'limit', storage: 'limit' });
const pro = await made.plan({ sso: true, seats: 5 });
const team = await made.plan({ sso: false, seats: 10, storage: null });
const seatsMore = await made.addon('seats-more', { seats: 0.5 });

/** Of a customer of the plan `pro` that was notified of it. */
beforeEach(async () => {
  customerId = await made.customer();
  subscriptionId = await made.subscribe(customerId, {}, { planId: pro });
  expect(await newEvents()).toEqual([changed('seats', 5), changed('sso', true)]);
});

describe('a change of a subscription is notified', () => {
  it('of its plan, where values are others', async () => {
    await made.change(subscriptionId, { planId: team });
    expect(await newEvents()).toEqual([changed('seats', 10), lost('sso', false), changed('storage', null)]);
    await made.change(subscriptionId, { planId: pro });
    expect(await newEvents()).toEqual([changed('seats', 5), changed('sso', true), lost('storage')]);
  });

  it('of its add-ons and how many they are', async () => {
    const params = { subscriptionId, addonId: seatsMore };
    await api.request('subscriptions.setAddon', { params, body: { quantity: 3 } });
    expect(await newEvents()).toEqual([changed('seats', 6.5)]);
    await api.request('subscriptions.setAddon', { params, body: { quantity: 4 } });
    expect(await newEvents()).toEqual([changed('seats', 7)]);
    await api.request('subscriptions.removeAddon', { params });
    expect(await newEvents()).toEqual([changed('seats', 5)]);
  });

  it('of the version that it is pinned to, whose plan then changes without it', async () => {
    const planId = await made.plan({ seats: 1 });
    await api.request('plans.publish', { params: { planId } });
    await made.giveInstead(planId, { seats: 2 });
    await made.change(subscriptionId, { planId });
    expect(await newEvents()).toEqual([changed('seats', 2), lost('sso', false)]);
    await made.change(subscriptionId, { planVersion: 1 });
    expect(await newEvents()).toEqual([changed('seats', 1)]);
    await made.giveInstead(planId, { seats: 3 });
    expect(await newEvents()).toEqual([]);
    await made.change(subscriptionId, { planVersion: null });
    expect(await newEvents()).toEqual([changed('seats', 3)]);
  });

  it('of its status: what is paused, unpaid or canceled gives nothing', async () => {
    await made.change(subscriptionId, { status: 'paused' });
    expect(await newEvents()).toEqual([lost('seats'), lost('sso', false)]);
    await made.change(subscriptionId, { status: 'active' });
    expect(await newEvents()).toEqual([changed('seats', 5), changed('sso', true)]);
    await made.change(subscriptionId, { status: 'past_due' });
    expect(await newEvents()).toEqual([]);
    await api.request('subscriptions.cancel', { params: { subscriptionId }, body: { at: 'now' } });
    expect(await newEvents()).toEqual([lost('seats'), lost('sso', false)]);
  });

  it('by the processor, too', async () => {
    await made.change(subscriptionId, { processorSubscriptionId: `si_${customerId}` });
    const nowMs = clock.nowMs();
    const event = {
      id: `evt_${customerId}`,
      processorSubscriptionId: `si_${customerId}`,
      type: 'customer.subscription.updated',
      isSimulated: false,
      changedAtMs: nowMs,
    };
    await inTransaction(api.pool, (db) =>
      takeEvent(
        { db, environment, actor: 'processor', operationId: 'processor.receiveEvent', nowMs },
        { ...event, status: 'unpaid', statusSinceMs: nowMs },
      ),
    );
    expect(await newEvents()).toEqual([lost('seats'), lost('sso', false)]);
  });

  it('of a second one, by the sum of what both give', async () => {
    await made.subscribe(customerId, {}, { planId: team });
    expect(await newEvents()).toEqual([changed('seats', 15), changed('storage', null)]);
  });

  it('sends nothing if no value differs', async () => {
    await made.change(subscriptionId, { metadata: { a: 'b' }, cancelAt: at(20 * DAY_MS) });
    await made.change(subscriptionId, { status: 'past_due' });
    await api.request('plans.update', { params: { planId: pro }, body: { name: 'Other' } });
    await api.request('plans.publish', { params: { planId: pro } });
    await api.request('features.update', { params: { featureKey: 'seats' }, body: { name: 'Other' } });
    await made.feature(`unused-${customerId}`, 'boolean');
    await made.giveInstead(pro, { sso: true, seats: { value: 5, soft: true } });
    await made.giveInstead(pro, { sso: true, seats: 5 });
    expect(await newEvents()).toEqual([]);
  });
});

describe('a change of the catalogue is notified', () => {
  it('of a plan, to its subscribers alone', async () => {
    const [planId, other] = [await made.plan({ seats: 1 }), await made.customer()];
    await made.subscribe(other, {}, { planId });
    expect(await newEvents(other)).toEqual([changed('seats', 1, other)]);
    await made.giveInstead(planId, { seats: 2, sso: true });
    expect(await newEvents(other)).toEqual([changed('seats', 2, other), changed('sso', true, other)]);
    expect(await newEvents()).toEqual([]);
  });

  it('of an add-on, times its quantity', async () => {
    const addonId = await made.addon(`more-${customerId}`, { seats: 1 });
    await api.request('subscriptions.setAddon', {
      params: { subscriptionId, addonId },
      body: { quantity: 3 },
    });
    expect(await newEvents()).toEqual([changed('seats', 8)]);
    const entitlements = [{ featureKey: 'seats', value: 123456789.5 }];
    await api.request('addons.replaceEntitlements', { params: { addonId }, body: { entitlements } });
    expect(await newEvents()).toEqual([changed('seats', 370370373.5)]);
  });

  it('of a feature that is deleted, from pinned versions and overrides as well', async () => {
    const featureKey = `deleted-${customerId}`;
    await made.feature(featureKey, 'boolean');
    const planId = await made.plan({ [featureKey]: true });
    const [pinned, overridden] = [await made.customer(), await made.customer()];
    await made.subscribe(pinned, {}, { planId, planVersion: 1 });
    await made.override(overridden, featureKey, { value: true });
    for (const id of [pinned, overridden])
      expect(await newEvents(id)).toEqual([changed(featureKey, true, id)]);
    await api.request('features.delete', { params: { featureKey } });
    for (const id of [pinned, overridden]) {
      expect(await newEvents(id)).toEqual([lost(featureKey, false, id)]);
    }
  });
});

describe('a change of the customer is notified', () => {
  it('of its overrides, which replace the value of its subscriptions', async () => {
    await made.override(customerId, 'seats', { value: 50 });
    await made.override(customerId, 'storage', { value: null });
    expect(await newEvents()).toEqual([changed('seats', 50), changed('storage', null)]);
    await made.override(customerId, 'seats', { value: 0 });
    expect(await newEvents()).toEqual([lost('seats')]);
    await api.request('overrides.delete', { params: { customerId, featureKey: 'seats' } });
    await api.request('overrides.delete', { params: { customerId, featureKey: 'storage' } });
    expect(await newEvents()).toEqual([changed('seats', 5), lost('storage')]);
    await made.override(customerId, 'seats', { value: 5 });
    expect(await newEvents()).toEqual([]);
  });

  it('that it is archived, and nothing of its subscriptions after that', async () => {
    await made.override(customerId, 'storage', { value: 7 });
    expect(await newEvents()).toEqual([changed('storage', 7)]);
    await api.request('customers.archive', { params: { customerId } });
    expect(await newEvents()).toEqual([lost('seats'), lost('sso', false), lost('storage')]);
    await made.change(subscriptionId, { planId: team });
    expect(await newEvents()).toEqual([]);
  });
});

describe('a change by time is notified', () => {
  it('of an override that expires, which is recorded', async () => {
    const before = await made.override(customerId, 'seats', { value: 50, expiresAt: at(DAY_MS) });
    expect(await newEvents()).toEqual([changed('seats', 50)]);
    clock.aheadMs += DAY_MS + 1_000;
    expect(await eventsLater()).toEqual([changed('seats', 5)]);
    const recorded = await auditEntries(api.pool, before.id);
    expect(recorded).toMatchObject([
      { action: 'overrides.put' },
      { actor: 'clock', action: 'overrides.expire', before, after: null },
    ]);
    await made.override(customerId, 'storage', { value: 1 });
    expect(await auditEntries(api.pool, before.id)).toEqual(recorded);
  });

  it('once of overrides that expire while something else changes, whatever their values', async () => {
    const same = await made.override(customerId, 'seats', { value: 5, expiresAt: at(DAY_MS) });
    const other = await made.override(customerId, 'sso', { value: false, expiresAt: at(DAY_MS + 1) });
    await newEvents();
    clock.aheadMs += DAY_MS + 1_000;
    for (let quantity = 1; quantity <= 3; quantity += 1) {
      const params = { subscriptionId, addonId: seatsMore };
      await api.request('subscriptions.setAddon', { params, body: { quantity } });
    }
    await notified.quiet();
    for (const { id } of [same, other]) {
      const actions = (await auditEntries(api.pool, id)).map(({ action }) => action);
      expect(actions).toEqual(['overrides.put', 'overrides.expire']);
    }
  });

  it('of a grace that ends, by the days that the workspace gives it now', async () => {
    await made.change(subscriptionId, { status: 'past_due' });
    clock.aheadMs += 14 * DAY_MS + 1_000;
    expect(await eventsLater()).toEqual([lost('seats'), lost('sso', false)]);
    await api.request('workspace.update', { body: { pastDueGraceDays: 16 } });
    expect(await newEvents()).toEqual([changed('seats', 5), changed('sso', true)]);
    await api.request('workspace.update', { body: { pastDueGraceDays: 15 } });
    expect(await newEvents()).toEqual([]);
    clock.aheadMs += DAY_MS;
    expect(await eventsLater()).toEqual([lost('seats'), lost('sso', false)]);
    await api.request('workspace.update', { body: { pastDueGraceDays: 14 } });
  });

  it('of a subscription that the clock cancels, and not of a trial that becomes active', async () => {
    const trial = await made.customer();
    const planId = await made.plan({ sso: true });
    await made.subscribe(trial, {}, { planId, trialEnd: at(DAY_MS), cancelAt: at(2 * DAY_MS) });
    expect(await newEvents(trial)).toEqual([changed('sso', true, trial)]);
    clock.aheadMs += DAY_MS + 1_000;
    await notified.quiet();
    expect(await newEvents(trial)).toEqual([]);
    clock.aheadMs += DAY_MS;
    expect(await eventsLater(trial)).toEqual([lost('sso', false, trial)]);
  });
});

it('what was notified equals what is granted, for every customer', async () => {
  await notified.quiet();
  expect(await notified.untrue(clock.nowMs())).toEqual([]);
});

async function newEvents(of = customerId) {
  await notified.quiet();
  return notified.events(of);
}

function eventsLater(of = customerId) {
  return notified.eventsLater(of, 10_000);
}

function changed(featureKey: string, effectiveValue: boolean | number | null, of = customerId) {
  return { customerId: of, featureKey, allowed: true, effectiveValue };
}

function lost(featureKey: string, effectiveValue: false | 0 = 0, of = customerId) {
  return { customerId: of, featureKey, allowed: false, effectiveValue };
}

function at(aheadMs: number): string {
  return new Date(clock.nowMs() + aheadMs).toISOString();
}
