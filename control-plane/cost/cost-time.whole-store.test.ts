import { expect, it } from 'vitest';
import { eventLine } from '../../tests/support/event-line.ts';
import { newCustomer } from '../api-under-test.ts';
import { isoText, usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * How long the cost of a customer with a million events takes, over HTTP from a real Postgres and warehouse.
 * Red when usage is read event by event.
 */
const EVENTS = 1_000_000;
const BLOCK = 100_000;
const DAY_MS = 86_400_000;
const REQUESTS = 60;
/** On a machine that does other work too; the figure of a quiet one is in docs/decisions/rating.md. */
const P50_MS_MAX = 500;

const { api, stores, environment, nowMs } = await usageOfThisFile();

it('the cost of a customer with a million events is read from the hours', { timeout: 300_000 }, async () => {
  const { body: customer } = await api.request('customers.create', { body: newCustomer() });
  const customerId = customer.id;
  for (let first = 0; first < EVENTS; first += BLOCK) {
    const lines = Array.from({ length: BLOCK }, (_, at) => {
      const occurredAtMs = nowMs - (((first + at) * 104_729) % (19 * DAY_MS));
      const id = `use_${String(first + at).padStart(26, 'm')}`;
      return eventLine({ environment, customerId, meterKey: 'sum', id, value: '2', occurredAtMs });
    });
    const block = { token: `many ${first}`, lines: Buffer.from(lines.join('')), timeoutMs: 60_000 };
    await stores.warehouse.insertEvents(block);
  }
  const OWN = { currency: 'EUR', interval: 'day', intervalCount: 30 };
  const tiers = [
    { upTo: 1000, unitAmount: 0 },
    { upTo: null, unitAmount: 0.001 },
  ];
  const prices = [
    { ...OWN, key: 'base', model: 'flat', amount: 49 },
    { ...OWN, key: 'use', model: 'graduated', meterKey: 'sum', tiers },
    { ...OWN, key: 'calls', model: 'per_unit', meterKey: 'count', unitAmount: 0.01, included: 100 },
    { ...OWN, key: 'share', currency: 'USD', model: 'percentage', meterKey: 'sum', rate: 0.01 },
  ];
  const { body: plan } = await api.request('createPlan', { body: { productId: 'p', name: 'Pro' } });
  await api.request('plans.replacePrices', { params: { planId: plan.id }, body: { prices } });
  const start = { currentPeriodStart: isoText(nowMs - 20 * DAY_MS + 1_234_567) };
  const term = { ...start, interval: 'day', intervalCount: 30 };
  await api.request('subscriptions.create', { body: { customerId, planId: plan.id, ...term } });
  const times: number[] = [];
  for (let n = 0; n < REQUESTS; n += 1) {
    const startedAt = performance.now();
    const { body } = await api.request('cost.ofCustomer', { params: { customerId } });
    times.push(performance.now() - startedAt);
    expect(body.lines).toHaveLength(4);
    expect(body.lines.find(({ priceKey }) => priceKey === 'use')?.used).toBeGreaterThan(1_900_000);
  }
  const ascending = times.slice(10).sort((a, b) => a - b);
  const [p10, p50] = [0.1, 0.5].map((share) => ascending[Math.floor(ascending.length * share)] ?? 0);
  console.log(`cost with ${EVENTS} events: p10 ${p10?.toFixed(1)} ms, p50 ${p50?.toFixed(1)} ms`);
  expect(p50).toBeLessThan(P50_MS_MAX);
});
