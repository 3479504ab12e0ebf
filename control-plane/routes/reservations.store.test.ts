import { describe, expect, it } from 'vitest';
import { expectRejection } from '../api-under-test.ts';
import { reservationsUnderTest } from '../reservations/reservations-under-test.ts';
import { usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * Faults this suite catches: a hold that does not count; a denied one, or its key, that is kept; a change of
 * a hold that is not decided; an end that gives back nothing, or twice; a hold of another tenant or customer.
 */
const usage = await usageOfThisFile();
const { api } = usage;
const made = await reservationsUnderTest(api);

describe('a reservation', () => {
  it('is granted within the limit and takes from it; a denied one is not kept', async () => {
    const customerId = await made.customerWith({ calls: 100 });
    const first = await made.held(customerId, 60, { properties: { model: 'a', size: 2 } });
    expect(first).toMatchObject({
      ...{ status: 'held', amount: 60, featureKey: 'calls', meterId: 'sum', onExpiry: 'release' },
      properties: { model: 'a', size: 2 },
      decision: { allowed: true, reasonCode: 'granted', limit: 100, current: 0, remaining: 100 },
    });
    expect(Date.parse(first.expiresAt) - Date.parse(first.createdAt)).toBe(300_000);
    const denied = await made.hold(customerId, 40.000000000001);
    expect(denied.status).toBe(200);
    expect(denied.body).toMatchObject({
      status: 'denied',
      decision: { allowed: false, reasonCode: 'limit_reached', current: 60, remaining: 40 },
    });
    expect(await made.ledger(customerId)).toMatchObject({ account: 60, open: 60, granted: 1 });
    await made.held(customerId, 40);
    expect((await made.check(customerId, 'calls')).current).toBe(0);
  });

  it('is denied by the counted usage as well, at once with strong consistency', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    await made.held(customerId, 3);
    const happening = {
      id: 'hold',
      units: 5n * 10n ** 12n,
      occurredAtMs: Date.now(),
      createdAtMs: Date.now(),
    };
    const logged = usage.logged({ ...happening, properties: {} }, 'sum');
    await usage.load(await usage.append([{ ...logged, customerId }]));
    const strong = { query: { consistency: 'strong' }, body: { customerId, featureKey: 'calls', amount: 3 } };
    const { status, body } = await api.request('reservations.create', strong);
    expect([status, body.decision]).toMatchObject([200, { current: 8, remaining: 2 }]);
    await made.held(customerId, 2);
  });

  it('is released once: what it held is free again', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id } = await made.held(customerId, 10);
    const released = await made.release(id);
    expect(released.body).toMatchObject({ id, status: 'released', endedAt: expect.any(String) });
    expect((await made.release(id)).body).toEqual(released.body);
    expect(await made.ledger(customerId)).toMatchObject({ account: 0, open: 0 });
    expectRejection(await made.patch(id, { amount: 1 }), 'illegal_transition');
    await made.held(customerId, 10);
  });

  it('is changed: more is decided like a new one, less is granted', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const { id, expiresAt } = await made.held(customerId, 4);
    const more = await made.patch(id, { amount: 9, expiresInSeconds: 900 });
    expect(more.body).toMatchObject({ id, amount: 9, decision: { current: 4, remaining: 6 } });
    expect(Date.parse(more.body.expiresAt)).toBeGreaterThan(Date.parse(expiresAt) + 500_000);
    const tooMuch = await made.patch(id, { amount: 11, expiresInSeconds: 5 });
    expect(tooMuch.body).toMatchObject({ amount: 9, decision: { allowed: false, current: 9 } });
    expect(await made.get(id)).toMatchObject({ amount: 9, expiresAt: more.body.expiresAt });
    expect((await made.patch(id, { amount: 0.5 })).body).toMatchObject({ amount: 0.5 });
    expect(await made.ledger(customerId)).toMatchObject({ account: 0.5, open: 0.5 });
  });

  it('is not enlarged by the usage of another meter, which its feature counts by now', async () => {
    await made.feature('moved', 'metered', 'sum');
    const customerId = await made.customerWith({ moved: 10 });
    const { id } = await made.held(customerId, 4, { featureKey: 'moved' });
    const moved = { params: { featureKey: 'moved' }, body: { meterKey: 'tokens' } };
    expect((await api.request('features.update', moved)).status).toBe(200);
    expectRejection(await made.patch(id, { amount: 5 }), 'not_reservable');
    expect((await made.patch(id, { amount: 3 })).body).toMatchObject({ amount: 3 });
  });

  it('takes credits beyond the limit, which holds of other meters have then no more', async () => {
    const customerId = await made.customerWith({ tokens: 10, minutes: 0 }, 20);
    const tokens = { featureKey: 'tokens' };
    const minutes = { featureKey: 'minutes' };
    const { id } = await made.held(customerId, 30, tokens); // 10 of the limit, 20 for 10 credits
    expect((await made.hold(customerId, 5.1, minutes)).body).toMatchObject({
      status: 'denied',
      decision: { reasonCode: 'insufficient_credit' },
    });
    const paid = await made.held(customerId, 4, minutes); // 8 credits
    expect(paid.decision.reasonCode).toBe('granted_by_credit');
    expect((await made.hold(customerId, 5, tokens)).status).toBe(200);
    await made.held(customerId, 4, tokens);
    await made.release(id);
    await made.held(customerId, 6, minutes);
  });
});

describe('a request for a reservation', () => {
  it('is repeated under its Idempotency-Key, unless it was denied', async () => {
    const customerId = await made.customerWith({ calls: 10 });
    const key = { 'idempotency-key': 'hold-1' };
    const first = await made.hold(customerId, 6, {}, key);
    const again = await made.hold(customerId, 6, {}, key);
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(again.headers['idempotent-replayed']).toBe('true');
    expectRejection(await made.hold(customerId, 7, {}, key), 'idempotency_key_reused');
    const other = { 'idempotency-key': 'hold-2' };
    expect((await made.hold(customerId, 5, {}, other)).status).toBe(200);
    await made.release(first.body.id);
    expect((await made.hold(customerId, 5, {}, other)).status).toBe(201);
    expect(await made.ledger(customerId)).toMatchObject({ open: 5, granted: 2 });
  });

  it('is granted once, however often it is sent at the same time', async () => {
    const customerId = await made.customerWith({ calls: 100 });
    const key = { 'idempotency-key': 'hold-at-once' };
    const responses = await Promise.all(Array.from({ length: 20 }, () => made.hold(customerId, 1, {}, key)));
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await made.ledger(customerId)).toMatchObject({ open: 1, granted: 1 });
  });

  it('names a feature, or a meter that one feature counts', async () => {
    const customerId = await made.customerWith({ calls: 10, tokens: 5 });
    const byMeter = { featureKey: undefined, meterId: 'tokens' };
    expect(await made.held(customerId, 1, byMeter)).toMatchObject({
      featureKey: 'tokens',
      meterId: 'tokens',
    });
    expectRejection(await made.hold(customerId, 1, { meterId: 'sum' }), 'not_reservable', 'meterId');
    expectRejection(
      await made.hold(customerId, 1, { featureKey: undefined }),
      'not_reservable',
      'featureKey',
    );
    const count = { featureKey: undefined, meterId: 'count' };
    expectRejection(await made.hold(customerId, 1, count), 'feature_not_found', 'meterId');
    await made.feature('calls-again', 'metered', 'sum');
    const ofSum = { featureKey: undefined, meterId: 'sum' };
    expect(await made.held(customerId, 1, ofSum)).toMatchObject({ featureKey: 'calls' });
    await made.override(customerId, 'calls-again', { value: 5 });
    expectRejection(await made.hold(customerId, 1, ofSum), 'invalid_request', 'meterId');
  });

  it('is rejected for what no amount can be held of, and denied where there is nothing to hold', async () => {
    const customerId = await made.customerWith({ tokens: 5 });
    await made.feature('sso', 'boolean');
    await made.feature('peak', 'metered', 'max');
    for (const featureKey of ['sso', 'peak']) {
      expectRejection(await made.hold(customerId, 1, { featureKey }), 'not_reservable', 'featureKey');
    }
    for (const amount of [0, -1]) {
      expectRejection(await made.hold(customerId, amount), 'invalid_request', 'amount');
    }
    const reason = async (...asked: Parameters<typeof made.hold>) =>
      (await made.hold(...asked)).body.decision.reasonCode;
    expect(await reason(customerId, 1)).toBe('feature_not_included');
    expect(await reason('nobody', 1)).toBe('customer_not_found');
    expect(await reason(customerId, 1, { featureKey: 'unknown' })).toBe('feature_not_found');
  });
});

it('reservations are listed by customer and status, and each is found by its id', async () => {
  const customerId = await made.customerWith({ calls: 10 });
  const [first, second] = [await made.held(customerId, 1), await made.held(customerId, 2)];
  await made.release(first.id);
  const listed = async (query: Record<string, string>) =>
    (await api.request('reservations.list', { query: { customerId, ...query } })).body.data.map(
      ({ id }) => id,
    );
  expect(await listed({})).toEqual([second.id, first.id]);
  expect(await listed({ status: 'held' })).toEqual([second.id]);
  expect(await listed({ status: 'released' })).toEqual([first.id]);
  expect(await listed({ customerId: 'nobody' })).toEqual([]);
  expectRejection(await made.release('rsv_unknown'), 'not_found', 'reservationId');
});
