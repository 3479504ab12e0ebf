import { addMonths } from '../../domain/rules/billing-period.ts';
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { BodyOf } from './api-client.ts';
import { type MeterKey, PLANS } from './catalogue.ts';
import { type DemoCustomer, REGIONS, type Region } from './customers.ts';
import { createPick, createRandom, type Random } from './random.ts';

export type DemoEvent = BodyOf<'usage.submitBatch'>['events'][number];

export const DAY_MS = 24 * HOUR_MS;
const MONTH_DAYS = 30;
const EVENTS_A_DAY: Record<MeterKey, number> = { 'api-calls': 9, 'ai-tokens': 5 };

/** Hours that the working day of a region is ahead of UTC. */
const AHEAD_HOURS: Record<Region, number> = { 'eu-west': 1, 'us-east': -5, 'ap-south': 5 };
const WEEKEND = 0.35;
/** Of ten events so many are of the customer's own region. */
const AT_HOME = 7;
const ELSEWHERE = 1.5;

/**
 * A month of usage of one meter, up to `nowMs`, in the order of time: by day and night, week and weekend. The
 * same for the same time. In the billing period that runs it adds up to what the customer has used.
 */
export function usageEvents(customer: DemoCustomer, meterKey: MeterKey, nowMs: number): DemoEvent[] {
  const random = createRandom(`${customer.slug}/${meterKey}`);
  const times = eventTimes(customer, EVENTS_A_DAY[meterKey], nowMs, random);
  const sizes = times.map(() => 0.4 + 1.2 * random());
  const scale = target(customer, meterKey) / periodSum(times, sizes, periodStartOf(customer, nowMs));
  return times.map((atMs, at) => ({
    idempotencyKey: `demo/${customer.slug}/${meterKey}/${at}`,
    customerId: customer.slug,
    meterId: meterKey,
    value: Math.max(1, Math.round((sizes[at] ?? 1) * scale)),
    occurredAt: timestampText(atMs),
    properties: properties(customer, meterKey, random),
  }));
}

export function periodStartOf({ periodDays }: DemoCustomer, nowMs: number): number {
  return nowMs - periodDays * DAY_MS;
}

/** When the subscription began: two months before the period that runs, or with it. */
export function startOf(customer: DemoCustomer, nowMs: number): number {
  const periodStart = periodStartOf(customer, nowMs);
  if (customer.story?.trialDaysLeft !== undefined || customer.interval === 'year') return periodStart;
  return addMonths(periodStart, -2);
}

function eventTimes(customer: DemoCustomer, perDay: number, nowMs: number, random: Random): number[] {
  const fromMs = Math.max(nowMs - MONTH_DAYS * DAY_MS, startOf(customer, nowMs));
  const hours: Array<readonly [startMs: number, weight: number]> = [];
  for (let startMs = fromMs; startMs + HOUR_MS <= nowMs; startMs += HOUR_MS) {
    hours.push([startMs, busyness(startMs, customer.region)]);
  }
  const pickHour = createPick(hours);
  const days = (nowMs - fromMs) / DAY_MS;
  const times = Array.from({ length: Math.round(perDay * days) }, () =>
    Math.floor(pickHour(random) + random() * HOUR_MS),
  );
  return times.sort((a, b) => a - b);
}

/** Highest in the afternoon of the region, lowest at night. */
function busyness(atMs: number, region: Region): number {
  const local = new Date(atMs + AHEAD_HOURS[region] * HOUR_MS);
  const isWeekend = local.getUTCDay() % 6 === 0;
  const sun = Math.cos(((local.getUTCHours() - 14) / 24) * 2 * Math.PI);
  return (0.15 + (1 + sun) ** 2 / 4) * (isWeekend ? WEEKEND : 1);
}

function target({ plan, used }: DemoCustomer, meterKey: MeterKey): number {
  const limit = PLANS.find(({ key }) => key === plan)?.limits[meterKey] ?? 0;
  return used[meterKey] * limit;
}

/** A yearly period began before the month: what was used in it is of the month all the same. */
function periodSum(times: number[], sizes: number[], periodStartMs: number): number {
  return times.reduce((sum, atMs, at) => (atMs < periodStartMs ? sum : sum + (sizes[at] ?? 0)), 0);
}

const pickEndpoint = createPick([
  ['/v1/documents', 5],
  ['/v1/search', 3],
  ['/v1/exports', 1],
]);
const pickModel = createPick([
  ['small', 3],
  ['large', 1],
]);

function properties({ region: home }: DemoCustomer, meterKey: MeterKey, random: Random) {
  const region = createPick(REGIONS.map((one) => [one, one === home ? AT_HOME : ELSEWHERE]))(random);
  if (meterKey === 'ai-tokens') return { region, model: pickModel(random) };
  return { region, endpoint: pickEndpoint(random) };
}
