import { describe, expect, it } from 'vitest';
import { addMonths } from '../../domain/rules/billing-period.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { inMinutes, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Canceling subscriptions, and their add-ons, over HTTP.
 *
 * Mutants this suite catches: two cancellations that notify twice; the end of the stored period used where it
 * has lapsed, or where a cancellation comes sooner; an add-on set to its present quantity that notifies
 * again; the bound on add-ons not checked.
 */
const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

describe('canceling', () => {
  it('happens now by default, and a second time changes nothing', async () => {
    for (const body of [{ at: 'now' }, {}, undefined]) {
      const { body: subscription } = await made.subscribe();
      const response = await made.cancel(subscription.id, body);
      expect(response.body).toMatchObject({ status: 'canceled', canceledAt: expect.any(String) });
      expect((await made.cancel(subscription.id, { at: 'period_end' })).body).toEqual(response.body);
      expect(await made.notifiedSince(subscription.id)).toEqual(['subscription.canceled']);
      expect(await made.planChanges(subscription.customerId)).toBe(1);
    }
  });

  it('at the end of the period sets the time, and PATCH removes it', async () => {
    const { body } = await made.subscribe();
    const response = await made.cancel(body.id, { at: 'period_end' });
    expect(response.body).toEqual({ ...body, cancelAt: body.currentPeriodEnd });
    expect((await made.patch(body.id, { cancelAt: null })).body).toEqual(body);
    expect(await made.notifiedSince(body.id)).toEqual(['subscription.updated', 'subscription.updated']);
    expectRejection(await made.cancel(body.id, { at: 'tomorrow' }), 'invalid_request', 'at');
  });

  it('at the end of the period leaves one that comes sooner and replaces one that comes later', async () => {
    const { body } = await made.subscribe({ cancelAt: inMinutes(5) });
    expect((await made.cancel(body.id, { at: 'period_end' })).body).toEqual(body);
    expect(await made.notifiedSince(body.id)).toEqual([]);
    await made.patch(body.id, { cancelAt: '2099-01-01T00:00:00Z' });
    const response = await made.cancel(body.id, { at: 'period_end' });
    expect(response.body.cancelAt).toBe(body.currentPeriodEnd);
  });

  it("at the end of a processor's period that has lapsed means the one that runs", async () => {
    const { body } = await made.subscribe({
      processorSubscriptionId: 'si_lapsed',
      currentPeriodStart: inMinutes(-60),
      currentPeriodEnd: inMinutes(-10),
    });
    const { cancelAt = '' } = (await made.cancel(body.id, { at: 'period_end' })).body;
    expect(Date.parse(cancelAt)).toBe(addMonths(Date.parse(body.currentPeriodEnd), 1));
  });

  it('of what expired is rejected', async () => {
    const { id } = await made.subscribed('incomplete_expired');
    for (const at of ['now', 'period_end'])
      expectRejection(await made.cancel(id, { at }), 'illegal_transition');
  });
});

describe('an add-on', () => {
  it('is attached, counted again and removed, each notified once', async () => {
    const { body } = await made.subscribe();
    const addonId = await made.addon();
    await api.pool.query(`UPDATE addons SET key = 'seats' WHERE id = $1`, [addonId]);
    const params = { subscriptionId: body.id, addonId: 'seats' };
    const put = async (quantity: number) =>
      (await api.request('subscriptions.setAddon', { params, body: { quantity } })).body.addons;
    expect(await put(2)).toEqual([{ addonId, quantity: 2 }]);
    expect(await put(2)).toEqual([{ addonId, quantity: 2 }]);
    expect(await put(3)).toEqual([{ addonId, quantity: 3 }]);
    expect((await api.request('subscriptions.removeAddon', { params })).status).toBe(204);
    expect((await api.request('subscriptions.retrieve', { params })).body).toEqual(body);
    expect(await made.notifiedSince(body.id)).toEqual(Array(3).fill('subscription.updated'));
    expect((await made.recorded(body.id)).map(({ action }) => action)).toEqual([
      'subscriptions.create',
      'subscriptions.setAddon',
      'subscriptions.setAddon',
      'subscriptions.removeAddon',
    ]);
    expectRejection(await api.request('subscriptions.removeAddon', { params }), 'not_found', 'addonId');
  });

  it('is rejected when unknown, too many, or on what has ended', async () => {
    const { id: subscriptionId } = await made.subscribed('canceled');
    const ended = { subscriptionId, addonId: await made.addon() };
    expectRejection(await api.request('subscriptions.setAddon', { params: ended }), 'illegal_transition');
    expectRejection(await api.request('subscriptions.removeAddon', { params: ended }), 'illegal_transition');
    const { body } = await made.subscribe();
    const params = { subscriptionId: body.id, addonId: 'nothing' };
    expectRejection(await api.request('subscriptions.setAddon', { params }), 'not_found', 'addonId');
    const known = { params: { subscriptionId: body.id, addonId: await made.addon() } };
    for (const quantity of ['0', '-1', '1.5', '1000001', '"1"', '1e400']) {
      const response = await api.request('subscriptions.setAddon', {
        ...known,
        body: `{"quantity":${quantity}}`,
      });
      expect([response.status, response.body]).toMatchObject([400, { error: { param: 'quantity' } }]);
    }
  });

  it('is accepted with nineteen others and not with twenty', async () => {
    const { body } = await made.subscribe();
    const ids = await Promise.all(Array.from({ length: 21 }, () => made.addon()));
    const put = (addonId = '') =>
      api.request('subscriptions.setAddon', { params: { subscriptionId: body.id, addonId } });
    for (const id of ids.slice(0, 20)) expect((await put(id)).status).toBe(200);
    expectRejection(await put(ids[20]), 'invalid_request', 'addonId');
    expect((await put(ids[0])).status).toBe(200);
  });
});
