import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextStatuses } from '../../domain/rules/subscription-status.ts';
import { SUBSCRIPTION_STATUSES } from '../../schemas/value-sets.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { inMinutes, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Changes of subscriptions over HTTP.
 *
 * Mutants this suite catches: requireTransition left out; `canceled` notified as updated too; an event for a
 * change to the same value; the pin kept on another plan; If-Match not checked.
 */
const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

describe('a status', () => {
  const changes = SUBSCRIPTION_STATUSES.flatMap((from) =>
    SUBSCRIPTION_STATUSES.map((to) => [from, to] as const),
  );

  it.each(changes)('from %s to %s is legal or rejected, as in the table', async (from, to) => {
    const { id, customerId } = await made.subscribed(from);
    const response = await made.patch(id, { status: to });
    const legal = nextStatuses(from);
    if (from !== to && !legal.includes(to)) {
      expectRejection(response, 'illegal_transition');
      expect(response.body).toMatchObject({ error: { details: { from, to, legal } } });
      expect(await made.notifiedSince(id)).toEqual([]);
      return;
    }
    expect(response.status).toBe(200);
    expect(response.body.status).toBe(to);
    const isEnd = from !== to && (to === 'canceled' || to === 'incomplete_expired');
    const expected =
      from === to ? [] : [to === 'canceled' ? 'subscription.canceled' : 'subscription.updated'];
    expect(await made.notifiedSince(id)).toEqual(expected);
    expect(await made.planChanges(customerId)).toBe(isEnd ? 1 : 0);
    expect((await made.recorded(id)).length).toBe(from === to ? 1 : 2);
  });

  it('walks any way through the table, and each step is notified once', async () => {
    const status = fc.constantFrom(...SUBSCRIPTION_STATUSES);
    await fc.assert(
      fc.asyncProperty(fc.array(status, { minLength: 1, maxLength: 8 }), async (steps) => {
        const { id } = await made.subscribed('incomplete');
        let at: (typeof SUBSCRIPTION_STATUSES)[number] = 'incomplete';
        let moves = 0;
        for (const to of steps) {
          const response = await made.patch(id, { status: to });
          const isLegal = to === at || nextStatuses(at).includes(to);
          expect(response.status).toBe(isLegal ? 200 : 409);
          if (isLegal && to !== at) moves += 1;
          if (isLegal) at = to;
        }
        expect(await made.notifiedSince(id)).toHaveLength(moves);
      }),
      { numRuns: 25 },
    );
  }, 240_000);

  it('contains when it reached canceled, the same in response and event', async () => {
    const { body } = await made.subscribe();
    const response = await made.patch(body.id, { status: 'canceled' });
    expect(response.body.canceledAt).toMatch(/Z$/);
    const data = { subscriptionId: body.id, canceledAt: response.body.canceledAt };
    expect(await made.notified(body.id)).toContainEqual({ type: 'subscription.canceled', data });
  });

  it('returns to trialing only with an end in the future', async () => {
    const { body } = await made.subscribe({ status: 'incomplete' });
    expectRejection(await made.patch(body.id, { status: 'trialing' }), 'invalid_request', 'trialEnd');
    const past = { status: 'trialing', trialEnd: inMinutes(-1) };
    expectRejection(await made.patch(body.id, past), 'invalid_request', 'trialEnd');
    expect((await made.patch(body.id, { status: 'trialing', trialEnd: inMinutes(9) })).body.status).toBe(
      'trialing',
    );
    expectRejection(await made.patch(body.id, { trialEnd: null }), 'invalid_request', 'trialEnd');
    expect((await made.patch(body.id, { trialEnd: inMinutes(10) })).status).toBe(200);
    const { body: active } = await made.patch(body.id, { status: 'active', trialEnd: null });
    expect(active).not.toHaveProperty('trialEnd');
  });
});

describe('a change', () => {
  it('to what it is notifies and records nothing, and keeps its ETag', async () => {
    const planId = await made.plan({ version: 2 });
    const fields = { planId, planVersion: 2, cancelAt: inMinutes(60), metadata: { a: 1.5 } };
    const { body, headers } = await made.subscribe(fields);
    const { status, currentPeriodStart, currentPeriodEnd } = body;
    const same = { ...fields, status, currentPeriodStart, currentPeriodEnd };
    const response = await api.call('PATCH', `/api/v1/subscriptions/${body.id}`, {
      body: JSON.stringify(same).replace('1.5', '1.50'),
    });
    expect(response.body).toEqual(body);
    expect(response.headers.etag).toBe(headers.etag);
    expect((await made.patch(body.id, {})).body).toEqual(body);
    expect(await made.notifiedSince(body.id)).toEqual([]);
    expect(await made.recorded(body.id)).toHaveLength(1);
  });

  it('of the plan removes the pin, and sends customer.updated too', async () => {
    const planId = await made.plan({ version: 5 });
    const { body } = await made.subscribe({ planId, planVersion: 4 });
    const other = await made.plan({ version: 2 });
    const { body: moved } = await made.patch(body.id, { planId: other });
    expect(moved.planId).toBe(other);
    expect(moved).not.toHaveProperty('planVersion');
    const data = { subscriptionId: body.id, status: 'active', planId: other };
    expect(await made.notified(body.id)).toContainEqual({ type: 'subscription.updated', data });
    expect(await made.planChanges(body.customerId)).toBe(1);
    expect(await made.recorded(body.id)).toMatchObject([{}, { before: body, after: moved }]);
    expect((await made.patch(body.id, { planId, planVersion: 5 })).body).toMatchObject({
      planId,
      planVersion: 5,
    });
    expect((await made.patch(body.id, { planVersion: null })).body).not.toHaveProperty('planVersion');
    expect(await made.planChanges(body.customerId)).toBe(2);
  });

  it('to an unknown or archived plan or version is rejected; to stay on an archived one is not', async () => {
    const { body } = await made.subscribe();
    expectRejection(await made.patch(body.id, { planId: 'nothing' }), 'plan_not_found', 'planId');
    const archived = await made.plan({ status: 'archived' });
    expectRejection(await made.patch(body.id, { planId: archived }), 'plan_archived', 'planId');
    expectRejection(await made.patch(body.id, { planVersion: 2 }), 'invalid_request', 'planVersion');
    await api.pool.query(`UPDATE plans SET status = 'archived' WHERE id = $1`, [body.planId]);
    expect((await made.patch(body.id, { planId: body.planId, planVersion: 1 })).body.planVersion).toBe(1);
  });

  it('of the metadata alone is recorded and sends no event', async () => {
    const { body } = await made.subscribe({ metadata: { a: 1 } });
    expect((await made.patch(body.id, { metadata: { b: true } })).body.metadata).toEqual({ b: true });
    expect(await made.notifiedSince(body.id)).toEqual([]);
    expect(await made.recorded(body.id)).toHaveLength(2);
    expectRejection(await made.patch(body.id, { metadata: { a: [] } }), 'invalid_request', 'metadata.a');
  });

  it("sets the processor's id once, if it is not in use", async () => {
    const taken = (await made.subscribe({ processorSubscriptionId: 'si_taken' })).body;
    const { body } = await made.subscribe();
    const give = (processorSubscriptionId: string) => made.patch(body.id, { processorSubscriptionId });
    expectRejection(await give('si_taken'), 'already_exists', 'processorSubscriptionId');
    expect((await give('si_own')).body.processorSubscriptionId).toBe('si_own');
    expectRejection(await give('si_other'), 'invalid_request', 'processorSubscriptionId');
    expect((await made.patch(taken.id, { processorSubscriptionId: 'si_taken' })).status).toBe(200);
  });

  it('of what has ended is rejected, but for the metadata', async () => {
    const { id } = await made.subscribed('canceled');
    for (const body of [{ planId: await made.plan() }, { cancelAt: inMinutes(5) }, { trialEnd: null }]) {
      const rejected = await made.patch(id, body);
      expectRejection(rejected, 'illegal_transition');
      // No status was requested.
      expect(rejected.body).toMatchObject({ error: { details: { from: 'canceled', legal: [] } } });
      expect(rejected.text).not.toContain('"to"');
    }
    expect((await made.patch(id, { metadata: { why: 'price' } })).status).toBe(200);
  });

  it('applies only to the version that its caller read', async () => {
    const { body, headers } = await made.subscribe();
    const seen = { 'if-match': String(headers.etag) };
    const changed = await made.patch(body.id, { metadata: { a: 1 } }, seen);
    expect(changed.status).toBe(200);
    expectRejection(await made.patch(body.id, { metadata: { a: 2 } }, seen), 'precondition_failed');
    expectRejection(await made.cancel(body.id, {}, seen), 'precondition_failed');
    const addonId = await made.addon();
    const params = { subscriptionId: body.id, addonId };
    const added = await api.request('subscriptions.setAddon', { params, headers: seen });
    expectRejection(added, 'precondition_failed');
    const unchanged = { 'if-none-match': String(changed.headers.etag) };
    const read = { params: { subscriptionId: body.id }, headers: unchanged };
    expect((await api.request('subscriptions.retrieve', read)).status).toBe(304);
  });

  it('of an object of another mode or of an unknown one is rejected', async () => {
    const { body } = await made.subscribe();
    const key = api.keys.test.secret;
    for (const [subscriptionId, with_] of [
      [body.id, { key }],
      ['sub_nothing', {}],
    ] as const) {
      const params = { subscriptionId };
      const requested = [
        await api.request('subscriptions.update', { ...with_, params }),
        await api.request('subscriptions.cancel', { ...with_, params }),
        await api.request('subscriptions.setAddon', { ...with_, params: { ...params, addonId: 'x' } }),
        await api.request('subscriptions.removeAddon', { ...with_, params: { ...params, addonId: 'x' } }),
      ];
      for (const response of requested) expectRejection(response, 'subscription_not_found', 'subscriptionId');
    }
    expect(await made.recorded(body.id)).toHaveLength(1);
  });
});
