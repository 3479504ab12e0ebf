import { describe, expect, it } from 'vitest';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import {
  expectedGroups,
  expectedValue,
  type Happening,
  unitsOf,
  within,
} from '../../tests/support/usage-oracle.ts';
import { expectRejection } from '../api-under-test.ts';
import { isoText } from '../usage/usage-under-test.ts';
import { shownTime, usageOfSeveralCustomers } from './analytics-under-test.ts';

/*
 * Breakdowns of one customer by local time, filtered, in the order of time and filled, over HTTP.
 *
 * Mutants this suite catches: labels of UTC; the offset of now for all of the year; hours without their
 * offset (two of one name are one); sorted by label where clocks go back; `other` of the newest; a filter
 * that is ignored; windows of UTC.
 */
const usage = await usageOfSeveralCustomers();
const [{ customerId } = { customerId: '' }] = usage.owned;
const own = usage.owned.filter((one) => one.customerId === customerId);
const SPAN = { fromMs: Date.UTC(2024, 2, 29, 7, 17), toMs: Date.UTC(2024, 3, 9, 19, 43) };
const RANGE = { from: isoText(SPAN.fromMs), to: isoText(SPAN.toMs) };
const inSpan = within(own, SPAN);

async function breakdown(meter: string, query: Record<string, string>) {
  const search = new URLSearchParams({ limit: '1000', ...query });
  const path = `/api/v1/usage/${customerId}/${meter}/breakdown?${search}`;
  return usage.api.call('GET', path, { headers: { prefer: 'numbers=text' } });
}

/** The label by `Intl` alone. */
function labelOf(zone: string, dimension: string, ms: number): string {
  if (dimension === '$day') return shownTime(ms, zone, 'day');
  if (dimension === '$month') return shownTime(ms, zone, 'month');
  const [, date, hour, offset] = /^(\S+) (\d\d) GMT(.*)$/.exec(shownTime(ms, zone, 'hour')) ?? [];
  return `${date}T${hour}:00:00.000${['', '+00:00'].includes(offset ?? '') ? 'Z' : offset}`;
}

const valuesOf = (body: { breakdown: Array<{ value: string }> }) => body.breakdown.map(({ value }) => value);

const ZONES = ['Europe/London', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/New_York'];

const CASES = ZONES.flatMap((zone) =>
  ['$hour', '$day', '$month'].map((dimension) => [zone, dimension] as const),
);

describe('a breakdown by local time', () => {
  it.each(CASES.map((one, at) => [...one, AGGREGATIONS[at % AGGREGATIONS.length] ?? 'sum'] as const))(
    'in %s by %s is exact for %s, by total and by time',
    async (timezone, dimension, meter) => {
      const named = ({ occurredAtMs }: Happening) => labelOf(timezone, dimension, occurredAtMs);
      const byTotal = await breakdown(meter, { ...RANGE, dimension, timezone });
      const shown = ({ value, total, count }: { value: string; total: string; count: number }) => ({
        ...{ value, total: unitsOf(total), count },
      });
      expect(byTotal.body.breakdown.map(shown)).toEqual(expectedGroups(inSpan, meter, named));
      const byTime = await breakdown(meter, { ...RANGE, dimension, timezone, order: 'time' });
      const inOrder = [...inSpan].sort((a, b) => a.occurredAtMs - b.occurredAtMs).map(named);
      expect(valuesOf(byTime.body)).toEqual([...new Set(inOrder)]);
      expect(byTime.body.total).toBe(byTotal.body.total);
    },
  );

  it('is the same for all time, and in UTC as without a time zone', async () => {
    const query = { window: 'all', dimension: '$day' };
    const { body } = await breakdown('sum', { ...query, timezone: 'Asia/Kathmandu' });
    const named = ({ occurredAtMs }: Happening) => labelOf('Asia/Kathmandu', '$day', occurredAtMs);
    expect(body.breakdown.map(({ value }: { value: string }) => value)).toEqual(
      expectedGroups(own, 'sum', named).map(({ value }) => value),
    );
    for (const dimension of ['$hour', '$day', '$month']) {
      const plain = await breakdown('max', { ...query, dimension });
      const utc = await breakdown('max', { ...query, dimension, timezone: 'UTC' });
      expect(utc.body.breakdown).toEqual(plain.body.breakdown);
    }
  });

  it('is filled where nothing was used', async () => {
    const query = {
      ...RANGE,
      dimension: '$hour',
      timezone: 'Australia/Lord_Howe',
      order: 'time',
      fill: 'zero',
    };
    const { body } = await breakdown('count', query);
    const hours: string[] = [];
    const named = (ms: number) => labelOf(query.timezone, '$hour', ms);
    for (let ms = SPAN.fromMs; ms < SPAN.toMs; ms += 1_800_000) hours.push(named(ms));
    hours.push(named(SPAN.toMs - 1));
    expect(body.breakdown.map(({ value }: { value: string }) => value)).toEqual([...new Set(hours)]);
    const used = body.breakdown.filter(({ count }: { count: number }) => count > 0);
    expect(used.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(inSpan.length);
  });

  it('shows the first in time and combines the later ones', async () => {
    const { body } = await breakdown('max', { ...RANGE, dimension: '$day', order: 'time', limit: '2' });
    const days = [...new Set(inSpan.map((one) => labelOf('UTC', '$day', one.occurredAtMs)))].sort();
    expect(body.breakdown.map(({ value }: { value: string }) => value)).toEqual(days.slice(0, 2));
    const rest = inSpan.filter((one) => !days.slice(0, 2).includes(labelOf('UTC', '$day', one.occurredAtMs)));
    expect(unitsOf(body.other.total)).toBe(expectedValue(rest, 'max'));
  });

  it('has the windows of its time zone', async () => {
    // In Kathmandu it is 02:45 of the first of April, a Monday.
    const at = '2024-03-31T21:00:00Z';
    for (const [window, from, to] of [
      ['day', '2024-03-31T18:15:00.000Z', '2024-04-01T18:15:00.000Z'],
      ['week', '2024-03-31T18:15:00.000Z', '2024-04-07T18:15:00.000Z'],
      ['month', '2024-03-31T18:15:00.000Z', '2024-04-30T18:15:00.000Z'],
    ] as const) {
      const query = { window, at, dimension: 'region', timezone: 'Asia/Kathmandu' };
      const { body } = await breakdown('sum', query);
      expect(body).toMatchObject({ window, from, to });
      const span = { fromMs: Date.parse(from), toMs: Date.parse(to) };
      expect(unitsOf(body.total)).toBe(expectedValue(within(own, span), 'sum'));
    }
  });

  it('counts filtered events only, with the quantiles of their values', async () => {
    const query = { window: 'all', dimension: 'size', quantiles: '0.5,1' };
    const { body } = await breakdown('sum', { ...query, 'filter[region]': 'eu', 'filter[cached]': 'false' });
    const some = own.filter(({ properties }) => properties.region === 'eu' && properties.cached === false);
    expect(unitsOf(body.total)).toBe(expectedValue(some, 'sum'));
    for (const { value, quantiles } of body.breakdown) {
      const same = some.filter(({ properties }) => String(properties.size ?? '') === value);
      const values = same.map(({ units }) => units).sort((a, b) => (a < b ? -1 : 1));
      expect(quantiles.map((one: { value: string }) => unitsOf(one.value))).toEqual([
        values[Math.floor(values.length / 2)],
        values.at(-1),
      ]);
    }
  });

  it.each([
    [{ dimension: 'region', order: 'time' }, 'order'],
    [{ dimension: '$day', fill: 'zero' }, 'fill'],
    [{ dimension: '$day', order: 'time', fill: 'zero', window: 'all' }, 'fill'],
    [{ dimension: '$hour', order: 'time', fill: 'zero', limit: '5', ...RANGE }, 'limit'],
    [{ dimension: '$day', timezone: 'Mars/Olympus' }, 'timezone'],
    [{ dimension: '$day', 'filter[customerId]': 'a' }, 'filter[customerId]'],
    [{ dimension: '$day', quantiles: '1.5' }, 'quantiles'],
  ])('with %j is rejected', async (query, param) => {
    expectRejection(
      await breakdown('sum', query as unknown as Record<string, string>),
      'invalid_request',
      param,
    );
  });
});
