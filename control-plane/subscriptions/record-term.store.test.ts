import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { listSubscriptionTerms, replaceSubscriptionTerms } from '../store/subscription-terms.ts';
import { lockSubscription, type SubscriptionFields, type SubscriptionRow } from '../store/subscriptions.ts';
import { changeSubscription } from './change-subscription.ts';
import { inMinutes, subscriptionsUnderTest } from './subscriptions-under-test.ts';

/*
 * What a subscription pays for, as it is recorded with each change.
 *
 * Mutants this suite catches: a term for a change of metadata; add-ons left out; a trial that is charged; a
 * change before the start that is charged at once; a late change that replaces what was recorded before it;
 * a change that begins when it was written; past due not charged; no term of what a process of the release
 * before wrote.
 */
const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

async function termsOf(id: string) {
  const terms = await listSubscriptionTerms(api.pool, id);
  return terms.map(({ isCharged, planId, planVersion, addons }) => ({
    isCharged,
    planId,
    planVersion,
    addons,
  }));
}

/** By another process than the API: at the time of the change, or `since` then. */
function changed(id: string, fields: Partial<SubscriptionFields>, since?: Date): Promise<SubscriptionRow> {
  const { environment } = api;
  return inTransaction(api.pool, async (db) => {
    const row = await lockSubscription(db, environment, id);
    if (!row) throw new Error('no subscription');
    const by = { actor: 'clock', operationId: 'test', nowMs: Date.now(), ...(since ? { since } : {}) };
    return changeSubscription({ db, environment, ...by }, row, fields);
  });
}

const term = (planId: string, fields = {}) => {
  return { isCharged: true, planId, planVersion: null, addons: [], ...fields };
};

describe('a term of a subscription', () => {
  it('begins with the subscription, and with each change of what it pays for', async () => {
    const { body } = await made.subscribe({ currentPeriodStart: inMinutes(-600) });
    const first = await listSubscriptionTerms(api.pool, body.id);
    expect(first).toEqual([
      {
        ...term(body.planId),
        startsAt: new Date(body.currentPeriodStart),
        anchor: new Date(body.billingAnchor),
        interval: 'month',
        intervalCount: 1,
        legacyIntervalMs: null,
        period: null,
      },
    ]);
    await made.patch(body.id, { metadata: { note: 'x' } });
    expect(await termsOf(body.id)).toHaveLength(1);
    const planId = await made.plan();
    await made.patch(body.id, { planId });
    await made.patch(body.id, { planVersion: 1 });
    const addonId = await made.addon();
    const params = { subscriptionId: body.id, addonId };
    await api.request('subscriptions.setAddon', { params, body: { quantity: 3 } });
    await api.request('subscriptions.removeAddon', { params });
    await made.cancel(body.id);
    expect(await termsOf(body.id)).toEqual([
      term(body.planId),
      term(planId),
      term(planId, { planVersion: 1 }),
      term(planId, { planVersion: 1, addons: [{ addonId, quantity: 3 }] }),
      term(planId, { planVersion: 1 }),
      term(planId, { planVersion: 1, isCharged: false }),
    ]);
  });

  it('has the billing period where that is none of the lattice, and the next one without it', async () => {
    const times = { currentPeriodStart: inMinutes(-3_000), currentPeriodEnd: inMinutes(-60) };
    const { body } = await made.subscribe({ ...times, interval: 'day' });
    const [fromMs, toMs] = [Date.parse(body.currentPeriodStart), Date.parse(body.currentPeriodEnd)];
    const next = { currentPeriodStart: new Date(toMs), currentPeriodEnd: new Date(toMs + 86_400_000) };
    await changed(body.id, next, new Date(toMs));
    const extended = new Date(toMs + 100_000_000);
    await made.patch(body.id, { currentPeriodEnd: extended.toISOString() });
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(terms.map(({ period }) => period)).toEqual([
      { fromMs, toMs },
      null,
      { fromMs: toMs, toMs: extended.getTime() },
    ]);
  });

  it('is not charged in a trial, and while it is paused', async () => {
    const { body } = await made.subscribe({ trialEnd: inMinutes(60) });
    await made.patch(body.id, { status: 'active' });
    await made.patch(body.id, { status: 'paused' });
    expect((await termsOf(body.id)).map(({ isCharged }) => isCharged)).toEqual([false, true, false]);
  });

  it('of a subscription that has not begun is charged from its start on', async () => {
    const { body } = await made.subscribe({ currentPeriodStart: inMinutes(60) });
    const planId = await made.plan();
    await made.patch(body.id, { planId });
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(terms).toMatchObject([
      term(planId, { isCharged: false }),
      term(planId, { startsAt: new Date(body.currentPeriodStart) }),
    ]);
  });

  it('begins when the change took effect, and is charged while it is past due', async () => {
    const { body } = await made.subscribe({ currentPeriodStart: inMinutes(-600) });
    const since = new Date(inMinutes(-30));
    const past = await changed(body.id, { status: 'past_due', statusSince: since }, since);
    const [unpaidAt, activeAt] = [new Date(inMinutes(-20)), new Date(inMinutes(-10))];
    await changed(body.id, { status: 'unpaid', statusSince: unpaidAt });
    await changed(body.id, { status: 'active', statusSince: activeAt });
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(past.status).toBe('past_due');
    expect(terms.map(({ startsAt, isCharged }) => [startsAt, isCharged])).toEqual([
      [new Date(body.currentPeriodStart), true],
      [unpaidAt, false],
      [activeAt, true],
    ]);
  });

  it('of a pending plan begins with its period, when the clock notices it late', async () => {
    const start = inMinutes(-1_500);
    const { body } = await made.subscribe({ currentPeriodStart: start, interval: 'day' });
    const planId = await made.plan();
    const end = new Date(Date.parse(start) + 86_400_000);
    const fields = {
      planId,
      currentPeriodStart: end,
      currentPeriodEnd: new Date(end.getTime() + 86_400_000),
    };
    await api.pool.query(
      'UPDATE subscriptions SET pending_plan_id = $2, current_period_start = $3,' +
        ' current_period_end = $4 WHERE id = $1',
      [body.id, planId, start, end],
    );
    await changed(body.id, { ...fields, pendingPlanId: null });
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(terms.at(-1)).toMatchObject(term(planId, { startsAt: end }));
  });

  it('is recorded from the start on where a process of the release before wrote none', async () => {
    const { body } = await made.subscribe({ currentPeriodStart: inMinutes(-600) });
    await api.pool.query('DELETE FROM subscription_terms WHERE subscription_id = $1', [body.id]);
    await api.pool.query('UPDATE subscriptions SET legacy_interval_ms = 5000000000 WHERE id = $1', [body.id]);
    await made.patch(body.id, { status: 'paused' });
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(terms).toMatchObject([
      term(body.planId, { startsAt: new Date(body.currentPeriodStart), legacyIntervalMs: 5_000_000_000 }),
      term(body.planId, { isCharged: false, legacyIntervalMs: 5_000_000_000 }),
    ]);
  });

  it('that is reported late begins with the last one that has begun', async () => {
    const { body } = await made.subscribe({ currentPeriodStart: inMinutes(-600) });
    const now = new Date();
    const [first] = await listSubscriptionTerms(api.pool, body.id);
    if (!first) throw new Error('no term');
    const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000);
    const replace = (minutes: number, isCharged: boolean) =>
      replaceSubscriptionTerms(api.pool, body.id, {
        terms: [{ ...first, startsAt: at(minutes), isCharged }],
        now,
      });
    await replace(-60, false);
    await replace(30, true);
    await replace(-120, true);
    const terms = await listSubscriptionTerms(api.pool, body.id);
    expect(terms.map(({ startsAt, isCharged }) => [startsAt, isCharged])).toEqual([
      [first.startsAt, true],
      [at(-60), true],
    ]);
  });
});
