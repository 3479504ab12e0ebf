import { describe, expect, it } from 'vitest';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import type { TestEvent } from '../../tests/support/event-line.ts';
import {
  expectedGroups,
  expectedValue,
  type Happening,
  storedId,
  unitsOf,
  within,
} from '../../tests/support/usage-oracle.ts';
import { expectRejection } from '../api-under-test.ts';
import { isoText, numberIn, usageOfThisFile } from './usage-under-test.ts';

/*
 * Breakdowns and lists of events over HTTP from a real Postgres and ClickHouse.
 *
 * Mutants this suite catches: FINAL left out; tags left on labels; groups sorted by label only; `other`
 * summed for a max; the default rate for a value that has its own; `>=` in the cursor's comparison.
 */
const usage = await usageOfThisFile();
const { happenings, nowMs } = usage;

async function loadNow(events: TestEvent[]): Promise<void> {
  await usage.load(await usage.append(events));
}

describe('a breakdown', () => {
  const labels: Record<string, (one: Happening) => string> = {
    region: ({ properties }) => String(properties.region ?? ''),
    size: ({ properties }) => String(properties.size ?? ''),
    cached: ({ properties }) => String(properties.cached ?? ''),
    absent: () => '',
    $hour: ({ occurredAtMs }) => `${new Date(occurredAtMs).toISOString().slice(0, 13)}:00:00.000Z`,
    $day: ({ occurredAtMs }) => new Date(occurredAtMs).toISOString().slice(0, 10),
    $month: ({ occurredAtMs }) => new Date(occurredAtMs).toISOString().slice(0, 7),
  };

  it.each(AGGREGATIONS)('of %s is exact by every dimension', async (aggregation) => {
    for (const [dimension, labelOf] of Object.entries(labels)) {
      const response = await usage.read(
        `${aggregation}/breakdown?window=all&limit=1000&dimension=${dimension}`,
      );
      const expected = expectedGroups(happenings, aggregation, labelOf);
      const shown = [...response.text.matchAll(/\{"value":("[^"]*"),"total":([-\d.]+),"count":(\d+)/g)];
      const seen = shown.map(([, value = '', total = '', count]) => ({
        value: JSON.parse(value),
        total: unitsOf(total),
        count: Number(count),
      }));
      expect(seen).toEqual(expected.slice(0, 1000));
      expect(unitsOf(numberIn(response.text, 'total'))).toBe(expectedValue(happenings, aggregation));
    }
  });

  it('covers the requested window', async () => {
    const spans: Array<[query: string, window: string, span: Span]> = [
      ['', 'current_period', calendarSpan('month', nowMs)],
      ['&window=month', 'month', calendarSpan('month', nowMs)],
      ['&window=week', 'week', calendarSpan('week', nowMs)],
      ['&window=day', 'day', calendarSpan('day', nowMs)],
    ];
    const [from = nowMs, to = nowMs] = happenings
      .map((one) => one.occurredAtMs)
      .slice(0, 2)
      .sort();
    const custom = `&from=${isoText(from)}&to=${isoText(to)}`;
    for (const [query, window, span] of [...spans, [custom, 'custom', { fromMs: from, toMs: to }] as const]) {
      const response = await usage.read(`sum/breakdown?dimension=region${query}`);
      expect(response.body).toMatchObject({ window, meterId: 'sum', dimension: 'region' });
      expect(unitsOf(numberIn(response.text, 'total'))).toBe(expectedValue(within(happenings, span), 'sum'));
    }
  });

  // Red when the built-in dimensions are found in a plain object: 500, and a function's text in the SQL.
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'takes %s for a property',
    async (name) => {
      const response = await usage.read(`sum/breakdown?dimension=${name}&window=all`);
      expect(response.status).toBe(200);
      expect(response.body.breakdown).toMatchObject([{ value: '', count: happenings.length }]);
    },
  );

  it.each(AGGREGATIONS)('of %s folds what is beyond the limit into other', async (aggregation) => {
    const response = await usage.read(`${aggregation}/breakdown?dimension=$day&window=all&limit=3`);
    expect(response.body.breakdown).toHaveLength(3);
    const shown = response.body.breakdown.map(({ value }: { value: string }) => value);
    const rest = happenings.filter((one) => !shown.includes(labels.$day?.(one)));
    const other = /"other":\{"total":([-\d.]+),"count":(\d+)/.exec(response.text);
    expect(unitsOf(other?.[1] ?? '')).toBe(expectedValue(rest, aggregation));
    expect(Number(other?.[2])).toBe(rest.length);
  });

  it('costs the rate of each value, in every dimension, to the last digit', async () => {
    const rates: Record<string, string> = { eu: '0.000000000001', us: '2', '': '7.5' };
    const byRegion = `{"eu":${rates.eu},"us":${rates.us},"":${rates['']}}`;
    const creditRates = `{"property":"region","rates":${byRegion}}`;
    const fields = '"key":"rated","name":"r","aggregation":"sum","creditRate":0.1';
    const body = `{${fields},"creditRates":${creditRates}}`;
    expect((await usage.api.call('POST', '/api/v1/meters', { body })).status).toBe(201);
    await loadNow(happenings.map((one) => usage.logged(one, 'rated')));
    const cost = (some: Happening[]) =>
      some.reduce((sum, one) => sum + one.units * unitsOf(rates[labels.region?.(one) ?? ''] ?? '0.1'), 0n);
    for (const dimension of ['region', '$month']) {
      const response = await usage.read(`rated/breakdown?dimension=${dimension}&window=all`);
      expect(unitsOf(numberIn(response.text, 'totalCreditCost'), 24)).toBe(cost(happenings));
      for (const [, label, credits = ''] of response.text.matchAll(
        /\{"value":"([^"]*)"[^}]*"creditCost":([-\d.]+)/g,
      )) {
        expect(unitsOf(credits, 24)).toBe(
          cost(happenings.filter((one) => labels[dimension]?.(one) === label)),
        );
      }
    }
  });

  // Red when the newest rates are used for all of it, or the time of the change belongs to the old ones.
  it('costs the rates of its time after they have changed', async () => {
    const meter = { key: 'changed', name: 'c', aggregation: 'count', creditRate: 2 };
    expect((await usage.api.call('POST', '/api/v1/meters', { body: meter })).status).toBe(201);
    const body = { creditRate: 5, creditRates: { property: 'region', rates: { eu: 7 } } };
    const { updatedAt } = (await usage.api.call('PATCH', '/api/v1/meters/changed', { body })).body;
    const since = Date.parse(updatedAt);
    const at = (offsetMs: number, region: string) => {
      const occurredAtMs = since + offsetMs;
      return { ...(happenings[0] as Happening), id: `${offsetMs}`, occurredAtMs, properties: { region } };
    };
    const some = [at(-1, 'eu'), at(0, 'eu'), at(1, 'us')];
    await loadNow(some.map((one) => usage.logged(one, 'changed')));
    const response = await usage.read('changed/breakdown?dimension=region&window=all');
    expect(response.body).toMatchObject({
      totalCreditCost: 14,
      breakdown: [
        { value: 'eu', creditCost: 9 },
        { value: 'us', creditCost: 5 },
      ],
    });
  });

  it('counts an event once that is in the table twice, and lists it once', async () => {
    await usage.makeMeter('doubled', 'count');
    const one = usage.logged(happenings[0] as Happening, 'doubled');
    await loadNow([one]);
    await loadNow([{ ...one, createdAtMs: (one.createdAtMs ?? 0) + 1 }]);
    // Of an hour that is cut: the events are read.
    const at = one.occurredAtMs ?? 0;
    const cut = `from=${isoText(at - 1)}&to=${isoText(at + 1)}`;
    const response = await usage.read(`doubled/breakdown?dimension=region&${cut}`);
    expect(response.body).toMatchObject({ total: 1, breakdown: [{ count: 1 }] });
    const { data } = (await usage.read('doubled/events')).body;
    expect(data.map(({ createdAt }: { createdAt: string }) => createdAt)).toEqual([
      isoText(one.createdAtMs ?? 0),
    ]);
  });

  it('rejects what cannot be computed', async () => {
    const request = (query: string) => usage.read(`sum/breakdown?${query}`);
    const from = '2026-01-01T00:00:00Z';
    expectRejection(await request(''), 'invalid_request', 'dimension');
    expectRejection(await request('dimension=a&window=year'), 'invalid_request', 'window');
    expectRejection(await request(`dimension=a&from=${from}`), 'invalid_request', 'to');
    expectRejection(await request(`dimension=a&to=${from}`), 'invalid_request', 'from');
    expectRejection(await request(`dimension=a&from=${from}&to=${from}`), 'invalid_request', 'to');
    const cut = await request(`dimension=a&window=day&from=${from}&to=2027-01-01T00:00:00Z`);
    expectRejection(cut, 'invalid_request', 'window');
    expectRejection(await request('dimension=a&limit=1001'), 'invalid_request', 'limit');
  });

  it('takes quotes, backslashes and placeholders in a dimension as text', async () => {
    for (const dimension of [`a'b`, 'a\\', `{limit:UInt64}`, `') OR 1=1 --`, '$minute']) {
      const response = await usage.read(
        `count/breakdown?dimension=${encodeURIComponent(dimension)}&window=all`,
      );
      expect(response.body.breakdown).toEqual([
        expect.objectContaining({ value: '', count: happenings.length }),
      ]);
    }
  });
});

describe('the list of events', () => {
  it('gives every event once, oldest first, as it was sent', async () => {
    const seen: Array<Record<string, unknown>> = [];
    let cursor = '';
    do {
      const response = await usage.read(`latest/events?limit=333${cursor}`);
      expect(response.status).toBe(200);
      seen.push(...response.body.data);
      cursor = response.body.nextCursor ? `&cursor=${response.body.nextCursor}` : '';
    } while (cursor !== '');
    const byId = new Map(happenings.map((one) => [storedId(one, 'latest'), one]));
    const expected = [...byId].sort(
      ([idA, a], [idB, b]) => a.occurredAtMs - b.occurredAtMs || (idA < idB ? -1 : 1),
    );
    expect(seen.map(({ id }) => id)).toEqual(expected.map(([id]) => id));
    for (const { id, properties, occurredAt, createdAt, customerId: owner } of seen) {
      const one = byId.get(String(id));
      expect(properties ?? {}).toEqual(one?.properties);
      expect([occurredAt, createdAt]).toEqual(
        [one?.occurredAtMs, one?.createdAtMs].map((ms) => new Date(ms ?? 0).toISOString()),
      );
      expect(owner).toBe(usage.customerId);
    }
  });

  it('keeps to from ≤ occurredAt < to, and shows values to the last digit', async () => {
    const times = happenings.map((one) => one.occurredAtMs).sort((a, b) => a - b);
    const span = { fromMs: times[700] ?? 0, toMs: times[900] ?? 0 };
    const query = new URLSearchParams({ from: isoText(span.fromMs), to: isoText(span.toMs), limit: '1000' });
    const { text } = await usage.read(`sum/events?${query}`);
    const values = [...text.matchAll(/"value":(-?[\d.]+)/g)].map(([, value = '']) => unitsOf(value));
    const expected = within(happenings, span).map(({ units }) => units);
    expect(values.sort(byUnits)).toEqual(expected.sort(byUnits));
  });

  it('rejects a cursor that it did not give', async () => {
    for (const cursor of ['x', 'W10', 'WzEsMl0', Buffer.from('[1e300,"a"]').toString('base64url')]) {
      expectRejection(await usage.read(`sum/events?cursor=${cursor}`), 'invalid_request', 'cursor');
    }
  });
});

function byUnits(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
