import { describe, expect, it } from 'vitest';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { startStopwatch } from '../../tests/support/stopwatch.ts';
import { expectedValue, type Happening, unitsOf, within } from '../../tests/support/usage-oracle.ts';
import { expectRejection } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';
import { isoText, numberIn, usageOfThisFile } from './usage-under-test.ts';

/*
 * Counters by billing period, and decisions by them, over HTTP from a real log, Postgres and ClickHouse. The
 * customer's periods last ten days and a bit, so that no bound of one is a bound of a month, day or hour.
 *
 * Mutants this suite catches: the calendar month for every customer; one span for all meters of a statement;
 * the meter left out of a group; the end of the period as its start; no wait for `strong`; the page's meters
 * in any order.
 */
const DAY_MS = 86_400_000;
const PERIOD_MS = 10 * DAY_MS;

const usage = await usageOfThisFile();
const { happenings, nowMs } = usage;
const made = customerGrantsUnderTest(usage.api);
const anchorMs = nowMs - 4 * PERIOD_MS - DAY_MS;
for (const meter of AGGREGATIONS) await made.feature(`${meter}-feature`, 'metered', meter);
const limits = Object.fromEntries(AGGREGATIONS.map((meter, at) => [`${meter}-feature`, 1_000_000.5 + at]));
await made.subscribe(usage.customerId, limits, periodFrom(anchorMs));

function periodFrom(startMs: number) {
  return {
    currentPeriodStart: isoText(startMs),
    currentPeriodEnd: isoText(startMs + PERIOD_MS),
    interval: 'day',
    intervalCount: 10,
  };
}

function periodAt(atMs: number): Span {
  const fromMs = anchorMs + Math.floor((atMs - anchorMs) / PERIOD_MS) * PERIOD_MS;
  return { fromMs, toMs: fromMs + PERIOD_MS };
}

function shownPeriod({ fromMs, toMs }: Span) {
  return { periodStart: isoText(fromMs), periodEnd: isoText(toMs) };
}

describe('a counter of a subscriber', () => {
  it.each(AGGREGATIONS)('of %s is exact in every billing period, with its limit', async (aggregation) => {
    const limit = 1_000_000.5 + AGGREGATIONS.indexOf(aggregation);
    for (let period = 0; period < 5; period += 1) {
      const span = periodAt(anchorMs + period * PERIOD_MS);
      for (const atMs of [span.fromMs, Math.min(span.toMs - 1, nowMs)]) {
        const { text, body } = await usage.read(`${aggregation}?at=${isoText(atMs)}`);
        expect(body).toMatchObject({ ...shownPeriod(span), limit });
        const expected = expectedValue(within(happenings, span), aggregation);
        expect(unitsOf(numberIn(text, 'current'))).toBe(expected);
      }
    }
    expect((await usage.read(aggregation)).body).toMatchObject(shownPeriod(periodAt(nowMs)));
  });

  it('is that of the calendar month before the subscription began, and for what nothing meters', async () => {
    const before = anchorMs - 1;
    const month = { ...calendarSpan('month', before), toMs: anchorMs };
    const { text, body } = await usage.read(`sum?at=${isoText(before)}`);
    expect(body).toMatchObject(shownPeriod(month));
    expect(unitsOf(numberIn(text, 'current'))).toBe(expectedValue(within(happenings, month), 'sum'));
    await usage.makeMeter('unmetered', 'sum');
    const unmetered = (await usage.read('unmetered')).body;
    expect(unmetered).toMatchObject(shownPeriod(calendarSpan('month', nowMs)));
    expect(unmetered).not.toHaveProperty('limit');
  });

  it('is broken down over the same period', async () => {
    for (const at of [anchorMs, anchorMs + PERIOD_MS, nowMs]) {
      const span = periodAt(at);
      const query = `dimension=region&at=${isoText(at)}`;
      const { text, body } = await usage.read(`sum/breakdown?${query}`);
      expect(body).toMatchObject({
        window: 'current_period',
        from: isoText(span.fromMs),
        to: isoText(span.toMs),
      });
      expect(unitsOf(numberIn(text, 'total'))).toBe(expectedValue(within(happenings, span), 'sum'));
    }
  });

  it('is the same in the list of all counters, page by page, the newest meter first', async () => {
    const { body: meters } = await usage.api.request('meters.list', { query: { pageSize: 100 } });
    const keys = meters.data.map(({ key }: { key: string }) => key);
    const questions = [nowMs, anchorMs + 1, anchorMs - 1].flatMap((at) =>
      [2, 100].map((size) => [at, size] as const),
    );
    for (const [at, pageSize] of questions) {
      const seen = [];
      for (let page = 1; page <= Math.ceil(meters.total / pageSize); page += 1) {
        const { status, body } = await list({ at: isoText(at), page, pageSize });
        expect([status, body.total]).toEqual([200, meters.total]);
        seen.push(...body.data);
      }
      const alone = keys.map(async (key) => (await usage.read(`${key}?at=${isoText(at)}`)).body);
      const expected = (await Promise.all(alone)).map((counter) => ({
        ...counter,
        asOf: expect.any(String),
      }));
      expect(seen).toEqual(expected);
    }
    expect((await list({ page: 1000 })).body).toMatchObject({ data: [], total: meters.total });
    expectRejection(await list({}, 'cus_unknown'), 'customer_not_found', 'customerId');
    expectRejection(await list({ at: 'now' }), 'invalid_request', 'at');
  });

  it('keeps the periods of a subscription that has ended for the time that it lived', async () => {
    const customerId = await made.customer();
    const planId = await made.plan({ 'sum-feature': 5 });
    const id = await made.subscribe(customerId, {}, { planId, ...periodFrom(anchorMs) });
    const ended = await usage.api.request('subscriptions.cancel', {
      params: { subscriptionId: id },
      body: { at: 'now' },
    });
    const endedMs = Date.parse(ended.body.canceledAt ?? '');
    const period = async (at: number) => {
      const params = { customerId, meterId: 'sum' };
      return (await usage.api.request('usage.retrieve', { params, query: { at: isoText(at) } })).body;
    };
    const last = { ...periodAt(nowMs), toMs: endedMs };
    expect(await period(nowMs)).toMatchObject({ ...shownPeriod(last), limit: 5 });
    const after = { ...calendarSpan('month', endedMs), fromMs: endedMs };
    expect(await period(endedMs)).toMatchObject(shownPeriod(after));
    expect(await period(endedMs)).not.toHaveProperty('limit');
  });

  // Red when periods are computed from the current terms: 127, 107 and 10 for 20, 7 and 3.
  it('has no event in two periods, whatever its subscriptions become', async () => {
    const customerId = await made.customer();
    await usage.makeMeter('chained', 'sum');
    await made.feature('chained-feature', 'metered', 'chained');
    const planId = await made.plan({ 'chained-feature': 1_000 });
    let used = 0;
    const use = async (value: number, occurredAtMs: number) => {
      used += 1;
      const happening = { ...LATE, occurredAtMs, id: `chained-${used}` };
      const logged = { ...usage.logged(happening, 'chained'), customerId, value: `${value}` };
      await usage.load(await usage.append([logged]));
    };
    const read = async (at?: number) => {
      const query = at === undefined ? {} : { at: isoText(at) };
      const params = { customerId, meterId: 'chained' };
      return (await usage.api.request('usage.retrieve', { params, query })).body.current;
    };
    const [early, within, started] = [nowMs - 3, nowMs - 1, nowMs - 2].map((ms) => ms - 10_000) as [
      ...[number, number, number],
    ];
    await use(20, early);
    const first = await made.subscribe(customerId, {}, { planId, currentPeriodStart: isoText(started) });
    await use(100, within);
    expect([await read(early), await read()]).toEqual([20, 100]);
    await usage.api.request('subscriptions.cancel', {
      params: { subscriptionId: first },
      body: { at: 'now' },
    });
    const second = await made.subscribe(customerId, {}, { planId });
    const secondMs = Date.now();
    await use(7, secondMs);
    expect([await read(early), await read(within), await read()]).toEqual([20, 100, 7]);
    const changedMs = Date.now() + 1;
    await usage.api.request('subscriptions.update', {
      params: { subscriptionId: second },
      body: { currentPeriodStart: isoText(changedMs), currentPeriodEnd: isoText(changedMs + 5 * DAY_MS) },
    });
    await use(3, changedMs);
    expect([await read(early), await read(within), await read(secondMs), await read(changedMs)]).toEqual([
      ...[20, 100, 7, 3],
    ]);
  });
});

function list(query: Record<string, string | number>, customerId = usage.customerId) {
  return usage.api.request('usage.list', { params: { customerId }, query });
}

describe('a check of what is metered', () => {
  const features = AGGREGATIONS.map((meter) => ({ featureKey: `${meter}-feature` }));

  it.each(AGGREGATIONS)('of %s is decided by the counter of this period', async (aggregation) => {
    const span = periodAt(nowMs);
    const current = expectedValue(within(happenings, span), aggregation);
    const params = { customerId: usage.customerId, featureKey: `${aggregation}-feature` };
    const { text, body } = await usage.api.request('entitlements.check', { params });
    const limit = 1_000_000.5 + AGGREGATIONS.indexOf(aggregation);
    expect(unitsOf(numberIn(text, 'current'))).toBe(current);
    const left = unitsOf(String(limit)) - current;
    expect(unitsOf(numberIn(text, 'remaining'))).toBe(left > 0n ? left : 0n);
    expect(body).toMatchObject({
      allowed: left >= unitsOf('1'),
      reasonCode: left >= unitsOf('1') ? 'granted' : 'limit_reached',
      limit,
      resetsAt: isoText(span.toMs),
      asOf: expect.any(String),
    });
  });

  it('of several reads their counters together, with the same values', async () => {
    const body = { customerId: usage.customerId, features };
    const together = (await usage.api.request('entitlements.checkMany', { body })).body.data;
    const alone = features.map(({ featureKey }) => made.check(usage.customerId, featureKey));
    const expected = (await Promise.all(alone)).map((one) => ({ ...one, asOf: expect.any(String) }));
    expect(together).toEqual(expected);
  });

  it('allows up to the limit and not one digit more', async () => {
    const customerId = await made.customer();
    await usage.makeMeter('calls', 'sum');
    await made.feature('calls', 'metered', 'calls');
    await made.subscribe(customerId, { calls: 10 });
    const logged = usage.logged({ ...LATE, occurredAtMs: Date.now(), id: 'used' }, 'calls');
    await usage.load(await usage.append([{ ...logged, customerId, value: '7.000000000001' }]));
    expect(await made.check(customerId, 'calls', { requested: '2.999999999999' })).toMatchObject({
      allowed: true,
      reason: '7.000000000001 used and 2.999999999999 requested, within the limit of 10 for calls.',
    });
    const rejected = await made.check(customerId, 'calls', { requested: 3 });
    expect(rejected).toMatchObject({ allowed: false, reasonCode: 'limit_reached', current: 7.000000000001 });
    const params = { customerId, meterId: 'calls' };
    expect((await usage.api.request('usage.retrieve', { params })).body).toEqual(
      expect.objectContaining({ current: 7.000000000001, limit: 10, periodEnd: rejected.resetsAt }),
    );
  });

  // Red when a check reads the grants of the requested feature alone.
  it('uses the period that another feature gives its meter', async () => {
    const customerId = await made.customer();
    await made.feature('sum-other', 'metered', 'sum');
    await made.subscribe(customerId, { 'sum-other': 1 }, periodFrom(anchorMs));
    await made.subscribe(customerId, { 'sum-feature': 1 }, periodFrom(anchorMs + DAY_MS));
    const { resetsAt } = await made.check(customerId, 'sum-feature');
    expect(resetsAt).toBe(shownPeriod(periodAt(nowMs)).periodEnd);
    const params = { customerId, meterId: 'sum' };
    expect((await usage.api.request('usage.retrieve', { params })).body.periodEnd).toBe(resetsAt);
  });

  it('does not wait for what is not counted yet, unless it is to be strong', async () => {
    const { customerId } = usage;
    const before = (await made.check(customerId, 'count-feature')).current ?? 0;
    const occurredAtMs = Date.now();
    const appended = await usage.append([usage.logged({ ...LATE, occurredAtMs, id: 'late' }, 'count')]);
    const strong = made.check(customerId, 'count-feature', { consistency: 'strong' });
    const passedMs = startStopwatch();
    expect((await made.check(customerId, 'count-feature')).current).toBe(before);
    expect(passedMs()).toBeLessThan(900);
    await usage.load(appended);
    const seen = await strong;
    expect(seen.current).toBe(before + 1);
    expect(Date.parse(seen.asOf ?? '')).toBeGreaterThanOrEqual(occurredAtMs);
  });
});

const LATE: Omit<Happening, 'id'> = {
  units: 10n ** 12n,
  occurredAtMs: Date.now(),
  createdAtMs: Date.now(),
  properties: {},
};
