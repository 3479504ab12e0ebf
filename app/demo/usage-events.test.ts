import { expect, test } from 'vitest';
import { PLANS } from './catalogue.ts';
import { CUSTOMERS } from './customers.ts';
import { DAY_MS, type DemoEvent, periodStartOf, usageEvents } from './usage-events.ts';

const NOW_MS = Date.UTC(2026, 10, 26, 9, 30);
const METERS = ['api-calls', 'ai-tokens'] as const;

function monthOf(meterKey: (typeof METERS)[number], nowMs = NOW_MS): DemoEvent[] {
  return CUSTOMERS.flatMap((customer) => usageEvents(customer, meterKey, nowMs));
}

function sumOf(events: DemoEvent[]): number {
  return events.reduce((sum, { value }) => sum + value, 0);
}

const timeOf = ({ occurredAt }: DemoEvent) => Date.parse(String(occurredAt));

test('a month of at most 20,000 events, each with its own key, is the same for the same time', () => {
  const events = METERS.flatMap((meterKey) => monthOf(meterKey));
  expect(events.length).toBeGreaterThan(10_000);
  expect(events.length).toBeLessThanOrEqual(20_000);
  expect(new Set(events.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(events.length);
  expect(METERS.flatMap((meterKey) => monthOf(meterKey))).toEqual(events);
  const outside = events.filter((event) => timeOf(event) >= NOW_MS || timeOf(event) < NOW_MS - 30 * DAY_MS);
  expect(outside).toEqual([]);
});

/** At all times of a year: a period may begin on the 31st, a month have 28 days. */
test.each([0, 31, 59, 60, 90, 212, 364])('on day %i of a year each has used what its row says', (day) => {
  const nowMs = Date.UTC(2027, 0, 1, 3) + day * DAY_MS;
  for (const customer of CUSTOMERS) {
    for (const meterKey of METERS) {
      const limit = PLANS.find(({ key }) => key === customer.plan)?.limits[meterKey] ?? 0;
      const events = usageEvents(customer, meterKey, nowMs);
      const used = sumOf(events.filter((event) => timeOf(event) >= periodStartOf(customer, nowMs)));
      expect(Math.abs(used / limit - customer.used[meterKey])).toBeLessThan(0.02);
    }
  }
});

test('there is more of it by day than at night, in the week than on its end, at home than elsewhere', () => {
  const events = monthOf('api-calls').filter(({ properties }) => properties?.region === 'eu-west');
  const byHour = (from: number, to: number) =>
    events.filter((event) => {
      const hour = new Date(timeOf(event)).getUTCHours();
      return hour >= from && hour < to;
    }).length;
  expect(byHour(10, 16)).toBeGreaterThan(2 * byHour(0, 6));
  const weekend = events.filter((event) => new Date(timeOf(event)).getUTCDay() % 6 === 0).length;
  expect(weekend / events.length).toBeLessThan(2 / 7 - 0.1);
  const aurora = CUSTOMERS[0] ?? expect.fail();
  const own = usageEvents(aurora, 'api-calls', NOW_MS);
  const atHome = own.filter(({ properties }) => properties?.region === aurora.region).length;
  expect(atHome / own.length).toBeGreaterThan(0.6);
  expect(atHome / own.length).toBeLessThan(0.8);
});
