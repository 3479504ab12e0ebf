import { describe, expect, it } from 'vitest';
import { addMonths } from '../../domain/rules/billing-period.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { inMinutes, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * The periods of subscriptions over HTTP: their lengths, trials, and what moves with them.
 *
 * Mutants this suite catches: the interval guessed from the first period; the first paid period anchored at
 * the start of the trial; a cancellation at the end that stays where the end was; one with its own time that
 * moves; another interval applied to the running period; a pending plan applied at once, or never.
 */
const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

const MONTHLY = { interval: 'month', intervalCount: 1 };
const date = (text: string) => `${text}T00:00:00.000Z`;
const span = (from: string, to: string) => ({ currentPeriodStart: date(from), currentPeriodEnd: date(to) });
const monthAfter = (text: string) => new Date(addMonths(Date.parse(text), 1)).toISOString();

describe('the first period', () => {
  it.each([
    ['a month', span('2098-01-31', '2098-02-28'), '2098-01-31'],
    ['a part of a month', span('2098-02-11', '2098-03-01'), '2098-03-01'],
    ['an import of one anchored on the 31st', span('2098-02-28', '2098-03-31'), '2098-03-31'],
    ['two weeks', { ...span('2098-01-01', '2098-01-15'), interval: 'week', intervalCount: 2 }, '2098-01-01'],
    ['a quarter', { ...span('2098-01-31', '2098-04-30'), intervalCount: 3 }, '2098-01-31'],
  ])('of %s determines where the next ones begin', async (_, fields, anchor) => {
    const { body } = await made.subscribe(fields);
    expect(body).toMatchObject({ ...MONTHLY, ...fields, billingAnchor: date(anchor) });
  });

  it('is one interval long, up to the anchor where there is one, or the trial', async () => {
    const start = { currentPeriodStart: date('2098-01-31') };
    const end = async (fields: object) =>
      (await made.subscribe({ ...start, ...fields })).body.currentPeriodEnd;
    expect(await end({})).toBe(date('2098-02-28'));
    expect(await end({ interval: 'year' })).toBe(date('2099-01-31'));
    expect(await end({ interval: 'day', intervalCount: 10 })).toBe(date('2098-02-10'));
    expect(await end({ billingAnchor: date('2097-12-05') })).toBe(date('2098-02-05'));
    expect(await end({ trialEnd: date('2098-02-14') })).toBe(date('2098-02-14'));
    expect(await end({ trialEnd: date('2098-02-14'), status: 'active' })).toBe(date('2098-02-28'));
  });

  it('of a trial is followed by one that is anchored at its end', async () => {
    const trial = { currentPeriodStart: date('2098-01-31'), trialEnd: date('2098-02-28') };
    expect((await made.subscribe(trial)).body).toMatchObject({
      ...MONTHLY,
      currentPeriodEnd: date('2098-02-28'),
      billingAnchor: date('2098-02-28'),
    });
  });

  it.each([
    ['an unknown interval', { interval: 'fortnight' }, 'interval'],
    ['no interval at all', { intervalCount: 0 }, 'intervalCount'],
    ['half an interval', { intervalCount: 1.5 }, 'intervalCount'],
    ['too many days', { interval: 'day', intervalCount: 367 }, 'intervalCount'],
    ['too many weeks', { interval: 'week', intervalCount: 53 }, 'intervalCount'],
    ['too many months', { intervalCount: 37 }, 'intervalCount'],
    ['too many years', { interval: 'year', intervalCount: 11 }, 'intervalCount'],
    ['a trial that ends before it', { currentPeriodStart: inMinutes(9), trialEnd: inMinutes(8) }, 'trialEnd'],
    [
      'an end that is not on the lattice',
      { ...span('2098-01-01', '2098-02-02'), billingAnchor: date('2098-01-01') },
      'billingAnchor',
    ],
    [
      'a trial that does not end on it',
      { trialEnd: date('2098-01-02'), billingAnchor: date('2098-01-01') },
      'billingAnchor',
    ],
  ])('is rejected with %s', async (_, fields, param) => {
    expectRejection(await made.subscribe(fields), 'invalid_request', param);
  });
});

describe('a change of the period', () => {
  it('that extends it by 5 days leaves the next ones one interval long, from the new end on', async () => {
    const { body } = await made.subscribe(span('2098-03-10', '2098-04-10'));
    const { body: extended } = await made.patch(body.id, { currentPeriodEnd: date('2098-04-15') });
    expect(extended).toEqual({
      ...body,
      ...span('2098-03-10', '2098-04-15'),
      billingAnchor: date('2098-04-15'),
    });
  });

  it('keeps the boundaries if it still ends on one', async () => {
    const { body } = await made.subscribe(span('2098-01-31', '2098-02-28'));
    for (const next of [span('2098-02-28', '2098-03-31'), span('2098-03-05', '2098-03-31')]) {
      expect((await made.patch(body.id, next)).body).toEqual({ ...body, ...next });
    }
    for (const currentPeriodEnd of ['2098-03-05T00:00:00Z', '2097-01-01T00:00:00Z', '2100-01-01T00:00:00Z']) {
      const response = await made.patch(body.id, { currentPeriodEnd });
      expect([response.status, response.body]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
    }
  });

  it('to another interval begins with the next one', async () => {
    const { body } = await made.subscribe({ ...span('2098-01-31', '2098-02-28'), intervalCount: 1 });
    const change = async (fields: object) => (await made.patch(body.id, fields)).body;
    expect(await change(MONTHLY)).toEqual(body);
    expect(await change({ intervalCount: 3 })).toEqual({
      ...body,
      intervalCount: 3,
      billingAnchor: date('2097-08-31'),
    });
    const yearly = { interval: 'year', intervalCount: 1 };
    expect(await change({ interval: 'year' })).toMatchObject({
      ...span('2098-01-31', '2098-02-28'),
      ...yearly,
      billingAnchor: date('2096-02-29'),
    });
    const two = { interval: 'week', intervalCount: 2, ...span('2098-01-31', '2098-02-14') };
    expect(await change(two)).toMatchObject({ ...two, billingAnchor: date('2098-01-31') });
    const tooMany = await made.patch(body.id, { intervalCount: 53 });
    expectRejection(tooMany, 'invalid_request', 'intervalCount');
    expect((await made.notifiedSince(body.id)).length).toBe(3);
  });

  it('of one that runs over means the period of now', async () => {
    const lapsed = { currentPeriodStart: inMinutes(-2 * 1440), currentPeriodEnd: inMinutes(-1440) };
    const { body } = await made.subscribe({ ...lapsed, interval: 'day' });
    const { body: weekly } = await made.patch(body.id, { interval: 'week' });
    expect(Date.parse(weekly.currentPeriodEnd)).toBeGreaterThan(Date.now());
    expect(weekly.billingAnchor).toBe(weekly.currentPeriodEnd);
    const days = Date.parse(weekly.currentPeriodEnd) - Date.parse(weekly.currentPeriodStart);
    expect(days).toBe(86_400_000);
  });
});

describe('a trial', () => {
  const trialing = () => made.subscribe({ trialEnd: date('2098-02-14') });

  it('that is moved takes the end of its period and the lattice along', async () => {
    const { body } = await trialing();
    const { body: moved } = await made.patch(body.id, { trialEnd: date('2098-03-31') });
    expect(moved).toEqual({
      ...body,
      trialEnd: date('2098-03-31'),
      currentPeriodEnd: date('2098-03-31'),
      billingAnchor: date('2098-03-31'),
    });
    // Also where it is one interval long.
    const month = { currentPeriodStart: date('2098-01-31'), trialEnd: date('2098-02-28') };
    expect((await made.patch(body.id, month)).body.billingAnchor).toBe(date('2098-02-28'));
    const early = await made.patch(body.id, { trialEnd: inMinutes(-1) });
    expectRejection(early, 'invalid_request', 'trialEnd');
  });

  it('that begins later than its subscription is a period of its own too', async () => {
    const { body } = await made.subscribe({ status: 'incomplete' });
    const trial = { status: 'trialing', trialEnd: date('2098-02-14') };
    expect((await made.patch(body.id, trial)).body).toMatchObject({
      currentPeriodEnd: date('2098-02-14'),
      billingAnchor: date('2098-02-14'),
    });
  });

  it.each(['active', 'past_due'])('that is %s before its end is paid from then on', async (status) => {
    const { body } = await trialing();
    await made.cancel(body.id, { at: 'period_end' });
    const before = Date.now();
    const { body: paid } = await made.patch(body.id, { status });
    expect(Date.parse(paid.currentPeriodStart)).toBeGreaterThanOrEqual(before);
    const end = monthAfter(paid.currentPeriodStart);
    expect(paid).toMatchObject({
      status,
      trialEnd: paid.currentPeriodStart,
      billingAnchor: paid.currentPeriodStart,
      currentPeriodEnd: end,
      cancelAt: end,
    });
    expectRejection(await made.patch(body.id, { status: 'trialing' }), 'illegal_transition');
  });

  it('that becomes active in a period that is given, or is paused, keeps that period', async () => {
    const { body } = await trialing();
    const given = span('2026-01-01', '2098-01-01');
    expect((await made.patch(body.id, { status: 'active', ...given })).body).toMatchObject(given);
    const { body: other } = await trialing();
    const { status: _, ...kept } = other;
    expect((await made.patch(other.id, { status: 'paused' })).body).toMatchObject(kept);
  });
});

describe('a cancellation at the end', () => {
  it('of the period moves with it, and one with its own time does not', async () => {
    const { body } = await made.subscribe(span('2026-01-01', '2098-01-01'));
    await made.cancel(body.id, { at: 'period_end' });
    const cancelAt = async (fields: object) => (await made.patch(body.id, fields)).body.cancelAt;
    expect(await cancelAt({ currentPeriodEnd: date('2098-01-06') })).toBe(date('2098-01-06'));
    expect(await cancelAt({ metadata: { a: 1 } })).toBe(date('2098-01-06'));
    // A value sent back as it was read is not a time of its own.
    expect(await cancelAt({ cancelAt: date('2098-01-06') })).toBe(date('2098-01-06'));
    expect(await cancelAt(span('2098-01-06', '2098-02-06'))).toBe(date('2098-02-06'));
    expect(await cancelAt({ cancelAt: date('2098-02-01') })).toBe(date('2098-02-01'));
    expect(await cancelAt({ currentPeriodEnd: date('2098-03-06') })).toBe(date('2098-02-01'));
    expect(await cancelAt({ cancelAt: null })).toBeUndefined();
    expect(await cancelAt({ currentPeriodEnd: date('2098-03-07') })).toBeUndefined();
  });

  it('in a trial is that of the trial, also when it is extended', async () => {
    const trialEnd = date('2098-02-14');
    for (const fields of [{ trialEnd }, { trialEnd, ...span('2026-01-01', '2098-06-01') }]) {
      const { body } = await made.subscribe(fields);
      expect((await made.cancel(body.id, { at: 'period_end' })).body.cancelAt).toBe(trialEnd);
      const extended = (await made.patch(body.id, { trialEnd: date('2098-03-01') })).body;
      expect(extended.cancelAt).toBe(date('2098-03-01'));
    }
  });

  it('of one that has not begun is that of its first period, and now is now', async () => {
    const { body } = await made.subscribe(span('2098-01-01', '2098-02-01'));
    expect((await made.cancel(body.id, { at: 'period_end' })).body.cancelAt).toBe(date('2098-02-01'));
    expect((await made.cancel(body.id)).body).toMatchObject({ status: 'canceled' });
  });
});

describe('a change of the plan that waits', () => {
  const atEnd = (id: string, planId: string | null) => made.patch(id, { planId, at: 'period_end' });

  it('is shown until it is taken back, and notified as a change each time', async () => {
    const { body } = await made.subscribe();
    const planId = await made.plan();
    await api.pool.query(`UPDATE plans SET key = 'later-1' WHERE id = $1`, [planId]);
    expect(body).not.toHaveProperty('pendingPlanId');
    for (const takenBack of [
      { planId: null, at: 'period_end' },
      { pendingPlanId: null },
      { planId: body.planId },
      { planId: body.planId, at: 'period_end' },
    ]) {
      expect((await atEnd(body.id, 'later-1')).body).toEqual({ ...body, pendingPlanId: planId });
      expect((await atEnd(body.id, planId)).body).toEqual({ ...body, pendingPlanId: planId });
      expect((await made.patch(body.id, takenBack)).body).toEqual(body);
    }
    expect(await made.notifiedSince(body.id)).toEqual(Array(8).fill('subscription.updated'));
    expect(await made.planChanges(body.customerId)).toBe(0);
  });

  it('is removed by a change at once, and by the end of the subscription', async () => {
    const [waiting, other] = [await made.plan(), await made.plan()];
    const { body } = await made.subscribe();
    await atEnd(body.id, waiting);
    const { body: changed } = await made.patch(body.id, { planId: other });
    expect(changed).toMatchObject({ planId: other });
    expect(changed).not.toHaveProperty('pendingPlanId');
    expect((await atEnd(body.id, waiting)).body.pendingPlanId).toBe(waiting);
    expect((await made.patch(body.id, { metadata: { a: 1 } })).body.pendingPlanId).toBe(waiting);
    expect((await made.cancel(body.id)).body).not.toHaveProperty('pendingPlanId');
    expectRejection(await atEnd(body.id, waiting), 'illegal_transition');
  });

  it('is rejected for an unknown or archived plan, or with missing fields', async () => {
    const { body } = await made.subscribe();
    const planId = await made.plan({ status: 'archived' });
    expectRejection(await atEnd(body.id, 'nothing'), 'plan_not_found', 'planId');
    expectRejection(await atEnd(body.id, planId), 'plan_archived', 'planId');
    const rejected = async (fields: object, param: string) =>
      expectRejection(await made.patch(body.id, fields), 'invalid_request', param);
    await rejected({ at: 'period_end' }, 'at');
    await rejected({ at: 'tomorrow' }, 'at');
    await rejected({ planId: null }, 'planId');
    await rejected({ pendingPlanId: await made.plan() }, 'pendingPlanId');
    await rejected({ planId: await made.plan(), planVersion: 1, at: 'period_end' }, 'planVersion');
    expect(await made.notifiedSince(body.id)).toEqual([]);
  });
});
