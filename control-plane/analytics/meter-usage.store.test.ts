import { describe, expect, it } from 'vitest';
import type { Granularity } from '../../schemas/resources/meter-usage.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import { expectedValue, groupedBy, unitsOf, within } from '../../tests/support/usage-oracle.ts';
import { type ApiResponse, expectRejection } from '../api-under-test.ts';
import { isoText } from '../usage/usage-under-test.ts';
import { type Owned, shownTime, usageOfSeveralCustomers } from './analytics-under-test.ts';

/*
 * One meter over all customers, over HTTP from a real Postgres and ClickHouse.
 *
 * Mutants this suite catches: hours cut by a bucket or the range read from the rollup; an edge hour read
 * twice; a day of 24 hours; groups ranked by the sum of their buckets' values; `other` summed for a max; a
 * filter that is ignored; an event without the property left out; a quantile one place off; another
 * environment's usage.
 */
const usage = await usageOfSeveralCustomers();
const { owned, meterUsage } = usage;

/** Neither bound is one of an hour anywhere. */
const SPAN = { fromMs: Date.UTC(2024, 2, 20, 7, 17, 3, 1), toMs: Date.UTC(2024, 3, 15, 19, 43, 59, 999) };
const RANGE = { from: isoText(SPAN.fromMs), to: isoText(SPAN.toMs) };
const inSpan: Owned[] = within(owned, SPAN) as Owned[];

interface Entry {
  from: string;
  to: string;
  group: Record<string, string>;
  total: string;
  count: number;
  quantiles?: Array<{ quantile: number; value: string }>;
}

/** Totals to the last digit. */
async function read(meter: string, query: Record<string, string>) {
  const response = await meterUsage(meter, { ...RANGE, ...query }, { prefer: 'numbers=text' });
  expect(response.text.slice(0, 500)).not.toContain('"error"');
  return response.body as {
    total: string;
    count: number;
    groups: number;
    data: Entry[];
    other?: { groups: number; total: string; count: number; data: Entry[] };
  };
}

function expected(events: Owned[], aggregation: Aggregation, nameOf: (one: Owned) => string) {
  const groups = groupedBy(events, nameOf);
  return new Map(
    [...groups].map(([name, same]) => [
      name,
      { total: expectedValue(same, aggregation), count: same.length },
    ]),
  );
}

const shown = (entries: Entry[], nameOf: (entry: Entry) => string) =>
  new Map(
    entries.map((entry) => [nameOf(entry), { total: unitsOf(entry.total), count: Number(entry.count) }]),
  );

/** With each aggregation a zone whose hours are those of UTC and one whose are not; with one the others. */
const ZONES: Array<[zone: string, aggregations: readonly Aggregation[]]> = [
  ['UTC', ['unique']],
  ['Europe/Berlin', AGGREGATIONS],
  ['Australia/Lord_Howe', ['unique']],
  ['Asia/Kathmandu', AGGREGATIONS],
];
const LABELS: Record<string, (one: Owned) => string> = {
  customerId: (one) => one.customerId,
  region: ({ properties }) => String(properties.region ?? ''),
  cached: ({ properties }) => String(properties.cached ?? ''),
  absent: () => '',
};

describe("a meter's usage", () => {
  it.each(ZONES.flatMap(([zone, aggregations]) => aggregations.map((one) => [zone, one] as const)))(
    'by time in %s is exact for %s',
    async (zone, aggregation) => {
      for (const granularity of ['hour', 'day', 'week', 'month'] as Granularity[]) {
        const { data, total, count } = await read(aggregation, { granularity, timezone: zone });
        const named = ({ from }: Entry) => shownTime(Date.parse(from), zone, granularity);
        const seen = shown(data, named);
        expect(seen).toEqual(
          expected(inSpan, aggregation, (one) => shownTime(one.occurredAtMs, zone, granularity)),
        );
        expect(seen.size).toBe(data.length);
        expect(unitsOf(total)).toBe(expectedValue(inSpan, aggregation));
        expect(count).toBe(inSpan.length);
        expect(data.map(({ from }) => from)).toEqual(data.map(({ from }) => from).sort());
      }
    },
  );

  it.each(AGGREGATIONS)(
    'of %s by customer and property is exact, with and without time',
    async (aggregation) => {
      for (const groupBy of ['customerId', 'region', 'cached,customerId', 'region,cached,absent']) {
        const names = groupBy.split(',');
        const labelOf = (one: Owned) => JSON.stringify(names.map((name) => LABELS[name]?.(one)));
        const groupOf = ({ group }: Entry) => JSON.stringify(names.map((name) => group[name]));
        const whole = await read(aggregation, { groupBy });
        expect(shown(whole.data, groupOf)).toEqual(expected(inSpan, aggregation, labelOf));
        const totals = whole.data.map(({ total }) => unitsOf(total));
        expect(totals).toEqual([...totals].sort((a, b) => (a > b ? -1 : 1)));
        const daily = await read(aggregation, { groupBy, granularity: 'day', timezone: 'Asia/Kathmandu' });
        const dayOf = (ms: number) => shownTime(ms, 'Asia/Kathmandu', 'day');
        expect(shown(daily.data, (one) => dayOf(Date.parse(one.from)) + groupOf(one))).toEqual(
          expected(inSpan, aggregation, (one) => dayOf(one.occurredAtMs) + labelOf(one)),
        );
      }
    },
  );

  it.each(AGGREGATIONS)(
    'of %s combines groups beyond the limit in other, by time too',
    async (aggregation) => {
      const named = (one: Owned) => `${LABELS.region?.(one)}/${one.customerId}`;
      const groupBy = 'region,customerId';
      const all = await read(aggregation, { groupBy });
      const few = await read(aggregation, { groupBy, limit: '2', granularity: 'week' });
      const kept = all.data.slice(0, 2).map(({ group }) => `${group.region}/${group.customerId}`);
      expect(new Set(few.data.map(({ group }) => `${group.region}/${group.customerId}`))).toEqual(
        new Set(kept),
      );
      const rest = inSpan.filter((one) => !kept.includes(named(one)));
      expect(few.groups).toBe(all.data.length);
      expect(few.other?.groups).toBe(all.data.length - 2);
      expect(unitsOf(few.other?.total ?? '')).toBe(expectedValue(rest, aggregation));
      const weekOf = (ms: number) => shownTime(ms, 'UTC', 'week');
      expect(shown(few.other?.data ?? [], ({ from }) => weekOf(Date.parse(from)))).toEqual(
        expected(rest, aggregation, (one) => weekOf(one.occurredAtMs)),
      );
    },
  );

  it.each(AGGREGATIONS)('of %s is filtered by customer and by property', async (aggregation) => {
    const [{ customerId } = { customerId: '' }] = owned;
    const own = (one: Owned) => one.customerId === customerId;
    const cases: Array<[Record<string, string>, (one: Owned) => boolean]> = [
      [{ 'filter[customerId]': customerId }, own],
      [{ 'filter[region]': 'eu' }, (one) => one.properties.region === 'eu'],
      [{ 'filter[region]': '' }, (one) => LABELS.region?.(one) === ''],
      [
        { 'filter[size]': '2.5', 'filter[customerId]': customerId },
        (one) => own(one) && one.properties.size === 2.5,
      ],
      [
        { 'filter[cached]': 'true', 'filter[region]': 'us' },
        ({ properties }) => properties.cached === true && properties.region === 'us',
      ],
      [{ 'filter[toString]': 'x' }, () => false],
    ];
    for (const [query, matches] of cases) {
      const some = inSpan.filter(matches);
      const report = await read(aggregation, query);
      expect([unitsOf(report.total), report.count]).toEqual([expectedValue(some, aggregation), some.length]);
    }
  });

  it('is filled with zeros where nothing was used, for each group', async () => {
    const query = { granularity: 'day', fill: 'zero', timezone: 'Europe/Berlin' };
    const from = isoText(Date.UTC(2024, 0, 1));
    const { data } = await read('sum', { ...query, groupBy: 'customerId', from });
    const days = new Set(data.map((entry) => entry.from));
    expect(data).toHaveLength(days.size * 3);
    expect(data.every((entry, at) => at < 3 || entry.from === data[at - 3]?.to)).toBe(true);
    expect(data.filter(({ count }) => count === 0).length).toBeGreaterThan(100);
    const none = await read('sum', { ...query, from: isoText(1), to: isoText(90_000_000) });
    expect(none.data).toMatchObject([
      { total: '0', count: 0 },
      { total: '0', count: 0 },
    ]);
  });

  it('of a sum has the quantiles of the values of its events', async () => {
    const levels = [0, 0.5, 0.95, 1];
    const { data } = await read('sum', { groupBy: 'customerId', quantiles: levels.join(',') });
    for (const { group, quantiles } of data) {
      const values = inSpan
        .filter(({ customerId }) => customerId === group.customerId)
        .map(({ units }) => units)
        .sort((a, b) => (a < b ? -1 : 1));
      const at = (level: number) => values[Math.min(Math.floor(level * values.length), values.length - 1)];
      expect(quantiles?.map(({ value }) => unitsOf(value))).toEqual(levels.map(at));
    }
  });

  it('comes as CSV, the same entries, with what a spreadsheet would run made text', async () => {
    const values = ['=1+1', '@x', '-2', '+a', 'a,"b"\r\nc', 'plain'];
    await usage.makeMeter('csv', 'count');
    const [{ customerId } = { customerId: '' }] = owned;
    const events = values.map((region, at) => ({
      ...usage.logged({ ...(owned[at] as Owned), properties: { region } }, 'csv'),
      customerId,
      occurredAtMs: SPAN.fromMs,
    }));
    await usage.load(await usage.append(events));
    const query = { ...RANGE, groupBy: 'region', limit: '5' };
    const response = await meterUsage('csv', query, { accept: 'text/csv' });
    expect(response.headers).toMatchObject({ 'content-type': 'text/csv; charset=utf-8', vary: 'Accept' });
    const time = `${RANGE.from},${RANGE.to}`;
    expect(response.text).toBe(
      [
        'from,to,region,total,count,isOther',
        `${time},'+a,1,1,false`,
        `${time},-2,1,1,false`,
        `${time},'=1+1,1,1,false`,
        `${time},'@x,1,1,false`,
        `${time},"a,""b""\r\nc",1,1,false`,
        `${time},,1,1,true`,
        '',
      ].join('\r\n'),
    );
    expect((await meterUsage('csv', query, { accept: 'text/csv;q=0.5, */*' })).body.data).toHaveLength(5);
  });

  it('is that of its own environment', async () => {
    const { live, test } = await usage.api.addWorkspace();
    const path = `/api/v1/meters/sum/usage?${new URLSearchParams({ ...RANGE, groupBy: 'customerId' })}`;
    for (const { secret } of [live, test]) {
      expectRejection(await usage.api.call('GET', path, { key: secret }), 'meter_not_found', 'meterId');
      const meter = { key: 'sum', name: 'sum', aggregation: 'sum' };
      await usage.api.call('POST', '/api/v1/meters', { key: secret, body: meter });
      const { body } = await usage.api.call('GET', path, { key: secret });
      expect(body).toMatchObject({ total: 0, count: 0, groups: 0, data: [] });
    }
  });

  const request = (query: Record<string, string>): Promise<ApiResponse> =>
    meterUsage('sum', { ...RANGE, ...query });

  it.each([
    [{ timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ granularity: 'hour', from: '2024-01-01T00:00:00Z' }, 'granularity'],
    [{ granularity: 'minute' }, 'granularity'],
    [{ granularity: 'hour', limit: '1000' }, 'limit'],
    [{ fill: 'zero' }, 'fill'],
    [{ groupBy: 'a,b,c,d' }, 'groupBy'],
    [{ groupBy: 'a,a' }, 'groupBy'],
    [{ groupBy: 'a,' }, 'groupBy'],
    [{ quantiles: '0.5,2' }, 'quantiles'],
    [{ quantiles: '0.1,0.2,0.3,0.4,0.5,0.6' }, 'quantiles'],
    [{ quantiles: 'median' }, 'quantiles'],
    [{ filter: 'eu' }, 'filter'],
    [{ 'filter[]': 'eu' }, 'filter[]'],
    [{ 'filter[a]': 'x'.repeat(257) }, 'filter[a]'],
    [{ to: RANGE.from }, 'to'],
    [{ order: 'name' }, 'order'],
  ])('with %j is rejected by its parameter', async (query, param) => {
    expectRejection(await request(query as Record<string, string>), 'invalid_request', param);
  });

  it('is rejected for quantiles of another aggregation, and for a customer that does not exist', async () => {
    const max = await meterUsage('max', { ...RANGE, quantiles: '0.5' });
    expectRejection(max, 'invalid_request', 'quantiles');
    const unknown = await request({ 'filter[customerId]': 'nobody' });
    expectRejection(unknown, 'customer_not_found', 'filter[customerId]');
    const path = `/api/v1/meters/sum/usage?${new URLSearchParams(RANGE)}&filter[a]=1&filter[a]=2`;
    expectRejection(await usage.api.call('GET', path), 'invalid_request', 'filter[a]');
  });
});
