import { describe, expect, it } from 'vitest';
import { apiOfThisFile } from '../api-under-test.ts';
import { listSubscriptionTerms, replaceSubscriptionTerms } from '../store/subscription-terms.ts';
import { inMinutes, subscriptionsUnderTest } from './subscriptions-under-test.ts';

/*
 * What a subscription pays for, as it is recorded with each change.
 *
 * Mutants this suite catches: a term for a change of metadata; add-ons left out; a trial that is charged; a
 * change before the start that is charged at once; a late change that replaces what was recorded before it.
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
