import { describe, expect, it } from 'vitest';
import { costUnderTest } from '../cost/cost-under-test.ts';
import { isoText, usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * What customers and subscriptions cost, over HTTP from a real log, Postgres and ClickHouse.
 *
 * Mutants this suite catches: prices of a later plan for earlier usage; usage in a gap charged, or a flat
 * amount again after it; a line of one currency in the total of another; a price that has not begun
 * charged; the end of a subscription that is not seen; a period of another length charged as several.
 */
const usage = await usageOfThisFile();
const { api } = usage;
const MONTH = { interval: 'month', intervalCount: 1 };
const EUR = { currency: 'EUR', ...MONTH };

await api.request('features.create', { body: { key: 'seats', name: 'Seats', type: 'limit' } });

const { at, use, newPlan, newAddon, subscribed, costOf } = costUnderTest(usage);

/** What lines say that do not name their subscription and time. */
function charged(lines: Awaited<ReturnType<typeof costOf>>['lines']) {
  return lines.map(({ priceKey, quantity, amount }) => [priceKey, quantity, amount]);
}

const OWN = { ...EUR, interval: 'day', intervalCount: 20 };

/** A subscription that pays prices of six models, with usage. */
async function everyModel() {
  const addonKey = await newAddon([{ ...OWN, key: 'support', model: 'flat', amount: 10.005 }]);
  const regions = { property: 'region', amounts: { eu: 0.5, us: 0.25 } };
  const tiers = [
    { upTo: 100, unitAmount: 0, flatAmount: 5 },
    { upTo: null, unitAmount: 0.015 },
  ];
  const plan = await newPlan(
    [
      { ...OWN, key: 'base', model: 'flat', amount: 49, description: 'Base fee' },
      { ...OWN, key: 'calls', model: 'graduated', meterKey: 'count', tiers, minimum: 6 },
      {
        ...{ ...OWN, key: 'bytes', model: 'per_unit', meterKey: 'sum', unitAmount: 0.1 },
        ...{ unitAmounts: regions, included: 10 },
      },
      { ...OWN, key: 'seats', model: 'seat', featureKey: 'seats', unitAmount: 9 },
      { ...OWN, currency: 'USD', key: 'peak', model: 'package', meterKey: 'max', size: 10, amount: 3 },
    ],
    [{ featureKey: 'seats', value: 4 }],
  );
  const { customerId, subscriptionId } = await subscribed(plan.id, {
    addons: [{ addonId: addonKey, quantity: 3 }],
  });
  const calls = Array.from({ length: 130 }, (_, n) => ({ occurredAtMs: at(-9) + n * 600_000 }));
  await use(customerId, 'count', calls);
  await use(customerId, 'max', [{ value: '25', occurredAtMs: at(-8) }]);
  await use(customerId, 'sum', [
    { value: '20', properties: { region: 'eu' }, occurredAtMs: at(-8) },
    { value: '7.5', properties: { region: 'us' }, occurredAtMs: at(-7) },
    { value: '4', properties: { region: 'ap' }, occurredAtMs: at(-11) },
    { value: '4', occurredAtMs: at(-1) + 1 },
  ]);
  return { plan, addonKey, customerId, subscriptionId };
}

describe('the cost of a subscription', () => {
  it('has a line for each price, which says how it comes about', async () => {
    const { plan, addonKey, customerId, subscriptionId } = await everyModel();
    const cost = await costOf(subscriptionId);
    const place = { subscriptionId, from: isoText(at(-10)), to: isoText(at(10)) };
    const ofPlan = { ...place, planKey: plan.key, currency: 'EUR' };
    expect(cost).toMatchObject({ customerId, from: place.from, to: place.to });
    expect(cost.totals).toEqual([
      { currency: 'EUR', amount: 128.3 },
      { currency: 'USD', amount: 9 },
    ]);
    const byKey = Object.fromEntries(cost.lines.map((line) => [line.priceKey, line]));
    const flat = { model: 'flat', quantity: 1, unitAmount: 49, exactAmount: 49, amount: 49 };
    expect(byKey.base).toEqual({ ...ofPlan, priceKey: 'base', description: 'Base fee', ...flat });
    const support = { model: 'flat', quantity: 3, unitAmount: 10.005, exactAmount: 30.015, amount: 30.02 };
    expect(byKey.support).toEqual({ ...place, addonKey, currency: 'EUR', priceKey: 'support', ...support });
    expect(byKey.calls).toEqual({
      ...{ ...ofPlan, priceKey: 'calls', model: 'graduated', meterKey: 'count', used: 130, quantity: 130 },
      tiers: [
        { upTo: 100, unitAmount: 0, flatAmount: 5, quantity: 100, amount: 5 },
        { upTo: null, unitAmount: 0.015, quantity: 30, amount: 0.45 },
      ],
      ...{ exactAmount: 5.45, minimumAmount: 0.55, amount: 6 },
    });
    const { values = [], ...bytes } = byKey.bytes ?? {};
    expect(values).toHaveLength(3);
    expect(values).toEqual(
      expect.arrayContaining([
        { value: 'eu', quantity: 20, unitAmount: 0.5 },
        { value: 'us', quantity: 7.5, unitAmount: 0.25 },
        { quantity: 4, unitAmount: 0.1 },
      ]),
    );
    expect(bytes).toMatchObject({
      used: 31.5,
      included: 10,
      quantity: 21.5,
      exactAmount: 7.275,
      amount: 7.28,
    });
    expect(byKey.seats).toMatchObject({
      featureKey: 'seats',
      used: 4,
      quantity: 4,
      unitAmount: 9,
      amount: 36,
    });
    expect(byKey.peak).toMatchObject({ used: 25, quantity: 3, unitAmount: 3, amount: 9, currency: 'USD' });
    const { body } = await api.request('cost.ofCustomer', { params: { customerId } });
    const { lines, totals, from } = cost;
    expect(body).toMatchObject({ customerId, lines, totals, from });
  });

  it('of a percentage says how many events each bound holds for', async () => {
    const fee = { model: 'percentage', meterKey: 'sum', rate: 0.029, fixed: 0.3, min: 0.5, max: 3 };
    const plan = await newPlan([{ ...OWN, key: 'fee', ...fee }]);
    const { customerId, subscriptionId } = await subscribed(plan.id);
    const values = ['1', '10', '1000', '-10', '20'];
    await use(
      customerId,
      'sum',
      values.map((value, n) => ({ value, occurredAtMs: at(-5) + n })),
    );
    const { lines } = await costOf(subscriptionId);
    // 0.5 + (0.29 + 0.3) + 3 - 0.29 + (0.58 + 0.3)
    expect(lines).toMatchObject([
      {
        ...{ used: 1021, quantity: 1021, rate: 0.029, fixed: 0.3, exactAmount: 4.68, amount: 4.68 },
        events: { charged: 2, atMin: 1, atMax: 1 },
      },
    ]);
  });

  it('goes on after a gap, and with a changed price, and adds up however it is cut', async () => {
    const price = { ...OWN, key: 'calls', model: 'per_unit', meterKey: 'count', included: 5 };
    const base = { ...OWN, key: 'base', model: 'flat', amount: 49 };
    const plan = await newPlan([base, { ...price, unitAmount: 1 }]);
    const { customerId, subscriptionId } = await subscribed(plan.id);
    const { rows } = await api.pool.query('SELECT * FROM subscription_terms WHERE subscription_id = $1', [
      subscriptionId,
    ]);
    expect(rows).toHaveLength(1);
    for (const [days, isCharged] of [
      [-6, false],
      [-4, true],
    ] as const) {
      await api.pool.query(
        `INSERT INTO subscription_terms
         SELECT subscription_id, $2, $3, plan_id, plan_version, addons, anchor, interval, interval_count
           FROM subscription_terms WHERE subscription_id = $1 ORDER BY starts_at LIMIT 1`,
        [subscriptionId, new Date(at(days)), isCharged],
      );
    }
    await api.request('plans.replacePrices', {
      params: { planId: plan.id },
      body: {
        prices: [
          { ...base, amount: 99 },
          { ...price, unitAmount: 2 },
        ],
      },
    });
    await api.pool.query('UPDATE plan_prices SET starts_at = $2 WHERE plan_id = $1 AND version = 2', [
      ...[plan.id, new Date(at(-2))],
    ]);
    const daily = [-9, -8, -7, -5, -3, -1].flatMap((days) =>
      Array.from({ length: 3 }, (_, n) => ({ occurredAtMs: at(days) + n * 1_000 })),
    );
    await use(customerId, 'count', daily);
    const { lines, totals } = await costOf(subscriptionId);
    expect(charged(lines)).toEqual([
      ...[
        ['base', 1, 49],
        ['calls', 4, 4],
      ],
      ...[
        ['calls', 3, 3],
        ['calls', 3, 6],
      ],
    ]);
    const cut = isoText(at(-8) + 1_500);
    const first = await costOf(subscriptionId, { from: isoText(at(-10)), to: cut });
    const second = await costOf(subscriptionId, { from: cut, to: isoText(at(10)) });
    expect(charged(first.lines)).toEqual([
      ['base', 1, 49],
      ['calls', 0, 0],
    ]);
    expect(charged(second.lines)).toEqual([
      ['calls', 4, 4],
      ['calls', 3, 3],
      ['calls', 3, 6],
    ]);
    expect(totals).toEqual([{ currency: 'EUR', amount: 62 }]);
  });

  it('of a period of another length is that of one period, and those after it have their own', async () => {
    const calls = { ...OWN, key: 'calls', model: 'per_unit', meterKey: 'count', included: 5, unitAmount: 1 };
    const plan = await newPlan([
      { ...OWN, key: 'base', model: 'flat', amount: 49 },
      calls,
      { ...OWN, key: 'often', model: 'flat', intervalCount: 10, amount: 1 },
    ]);
    const first = { currentPeriodStart: isoText(at(-42)), currentPeriodEnd: isoText(at(-5)) };
    const { customerId, subscriptionId } = await subscribed(plan.id, first);
    const daily = [-40, -30, -20, -10, -3].flatMap((days) =>
      Array.from({ length: 3 }, (_, n) => ({ occurredAtMs: at(days) + n * 1_000 })),
    );
    await use(customerId, 'count', daily);
    const byKey = async (from: number, to: number) => {
      const { lines } = await costOf(subscriptionId, { from: isoText(at(from)), to: isoText(at(to)) });
      return ['base', 'calls', 'often'].map((key) =>
        lines.filter(({ priceKey }) => priceKey === key).map(({ amount }) => amount),
      );
    };
    expect(await byKey(-60, -5)).toEqual([[49], [7], [1, 1, 1, 1]]);
    expect(await byKey(-60, 0)).toEqual([
      [49, 49],
      [7, 0],
      [1, 1, 1, 1, 1],
    ]);
    expect(await byKey(-17, -5)).toEqual([[], [3], [1]]);
  });

  it('ends with it, and is none before it began or of what is still to come', async () => {
    const plan = await newPlan([
      { ...OWN, key: 'base', model: 'flat', amount: 49 },
      { ...OWN, intervalCount: 3, key: 'often', model: 'flat', amount: 1 },
    ]);
    const { customerId, subscriptionId } = await subscribed(plan.id);
    const before = { from: isoText(at(-40)), to: isoText(at(-10)) };
    expect((await costOf(subscriptionId, before)).lines).toEqual([]);
    const { lines } = await costOf(subscriptionId);
    // Periods of three days have begun 10, 7, 4 and 1 days ago.
    expect(
      charged(lines)
        .map(([key]) => key)
        .sort(),
    ).toEqual(['base', ...Array(4).fill('often')]);
    await api.request('subscriptions.cancel', { params: { subscriptionId }, body: { at: 'now' } });
    const ended = await api.request('cost.ofCustomer', { params: { customerId } });
    expect(ended.body.lines).toHaveLength(5);
    const year = { from: isoText(at(-10)), to: isoText(at(300)) };
    expect((await costOf(subscriptionId, year)).lines).toHaveLength(5);
  });
});
