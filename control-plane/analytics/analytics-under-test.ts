import { expect } from 'vitest';
import type { Granularity } from '../../schemas/resources/meter-usage.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { type Happening, makeHappenings } from '../../tests/support/usage-oracle.ts';
import { newCustomer } from '../api-under-test.ts';
import { usageOfThisFile } from '../usage/usage-under-test.ts';

/** An event of one of several customers. */
export interface Owned extends Happening {
  customerId: string;
}

/** Clocks changed in Berlin on 31 March, on Lord Howe on 7 April. */
const ENDS_MS = Date.UTC(2024, 3, 20);

/** Three customers who used each meter, named like its aggregation, in the 70 days before 20 April 2024. */
export async function usageOfSeveralCustomers() {
  const usage = await usageOfThisFile();
  const owned: Owned[] = [];
  for (const seed of [11, 12, 13]) {
    const made = await usage.api.call('POST', '/api/v1/customers', { body: newCustomer() });
    const customerId: string = made.body.id;
    owned.push(...makeHappenings(500, ENDS_MS, seed).map((one) => ({ ...one, customerId })));
  }
  const events = AGGREGATIONS.flatMap((meter) =>
    owned.map((one) => ({ ...usage.logged(one, meter), customerId: one.customerId })),
  );
  await usage.load(await usage.append(events));
  return {
    ...usage,
    owned,
    meterUsage: async (meter: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
      usage.api.call('GET', `/api/v1/meters/${meter}/usage?${new URLSearchParams(query)}`, { headers }),
  };
}

/** What a clock in this zone shows at a time, down to the hour, day, week or month: by `Intl` alone. */
export function shownTime(ms: number, zone: string, granularity: Granularity): string {
  const [date = '', time = ''] = clockIn(zone).format(ms).split(' ');
  expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  if (granularity === 'day') return date;
  if (granularity === 'month') return date.slice(0, 7);
  if (granularity === 'hour') return `${date} ${time.slice(0, 2)} ${offsetText(ms, zone)}`;
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return `week of ${day.toISOString().slice(0, 10)}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const name = `${language} ${options.timeZone}`;
  const format = formats.get(name) ?? new Intl.DateTimeFormat(language, options);
  formats.set(name, format);
  return format;
}

const clockIn = (zone: string) => formatOf('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });

function offsetText(ms: number, zone: string): string {
  const parts = formatOf('en', { timeZone: zone, timeZoneName: 'longOffset' }).formatToParts(ms);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
