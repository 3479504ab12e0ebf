import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChdbWarehouse } from '../../infra/clickhouse/chdb-warehouse.ts';
import { eventLines } from '../../infra/conformance/event-line.ts';
import { eventId, frameOf, type LoggedEvent } from '../../infra/conformance/load-stores.ts';
import type { EventLogReader, EventLogWriter } from '../../infra/ports/event-log.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../../infra/segment-log/writer.ts';
import { CHANNELS } from '../../schemas/channels.ts';
import { calendarSpan, type Span } from '../../schemas/rules/calendar.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';
import { type ApiUnderTest, expectRefusal, startApi } from '../api-under-test.ts';
import { findMeter } from '../store/meters.ts';
import { readCounter } from '../store/read-counter.ts';
import {
  expectedGroups,
  expectedValue,
  type Happening,
  makeHappenings,
  unitsAsText,
  unitsOf,
  within,
} from './usage-oracle.ts';

/*
 * Usage read over HTTP from a real log, Postgres and ClickHouse; this file plays the aggregator. Every aggregation
 * has a meter with the same 2,000 events.
 *
 * Breaks that turn it red: an edge with <= in place of <; maxOrNull left to 0 (negative values); toFloat64 in a
 * sum; FINAL left out; tags left on labels; asOf asked for after the read; the wait left out.
 */
const log = pino({ level: 'silent' });
const now = Date.now();
const happenings = makeHappenings(2_000, now);

let folder: string;
let warehouse: Warehouse;
let writer: EventLogWriter;
let reader: EventLogReader;
let api: ApiUnderTest;
let environment: string;
let customerId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  warehouse = createChdbWarehouse({ directory: join(folder, 'warehouse'), log });
  await warehouse.migrate();
  writer = await openSegmentLogWriter({
    directory: join(folder, 'log'),
    identityCheck: Buffer.alloc(16),
    log,
  });
  reader = await openSegmentLogReader({ directory: join(folder, 'log') });
  api = await startApi({ warehouse, logReader: reader });
  environment = `${api.keys.workspaceId}:live`;
  const customer = { name: 'Ada', email: 'ada@example.com', externalId: 'ada/1' };
  customerId = (await api.call('POST', '/api/v1/customers', { body: customer })).body.id;
  for (const aggregation of AGGREGATIONS) await makeMeter(aggregation, aggregation);
  await makeMeter('empty', 'max');
  await load(AGGREGATIONS.flatMap((meter) => happenings.map((one) => logged(one, meter))));
});

afterAll(async () => {
  await api?.close();
  await reader?.close();
  await writer?.close();
  await warehouse?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function makeMeter(key: string, aggregation: Aggregation, more: object = {}): Promise<void> {
  const property = aggregation === 'unique' ? { property: 'region' } : {};
  const body = { key, name: key, aggregation, unit: 'pieces', ...property, ...more };
  expect((await api.call('POST', '/api/v1/meters', { body })).status).toBe(201);
}

/** As the ingest tier writes it. */
function logged(happening: Happening, meterKey: string): LoggedEvent {
  const { region } = happening.properties;
  const stored = Object.entries(happening.properties).map(([name, value]) => {
    const tag = { string: '', number: '\u0000n', boolean: '\u0000b' }[typeof value as 'string'];
    return [name, `${tag}${value}`];
  });
  return {
    environment,
    customerId,
    meterKey,
    id: `${happening.id} ${meterKey}`,
    value: unitsAsText(happening.units),
    uniqueValue: meterKey === 'unique' && region !== undefined ? `=${region}` : '',
    properties: Object.fromEntries(stored.sort()),
    occurredAtMs: happening.occurredAtMs,
    createdAtMs: happening.createdAtMs,
  };
}

interface Appended {
  lo: number;
  hi: number;
  events: LoggedEvent[];
}

async function append(events: LoggedEvent[]): Promise<Appended> {
  const outcome = await writer.append(frameOf(writer.logId, events, Date.now()));
  if (outcome.status !== 'durable') throw new Error('the disk is full');
  return { lo: outcome.position, hi: outcome.end, events };
}

/** Inserts, then marks and announces the range as the aggregator does. */
async function insert({ lo, hi, events }: Appended): Promise<void> {
  const lines = eventLines(events.map((event) => ({ ...event, id: eventId(event.id) })));
  await warehouse.insertEvents({ token: `${lo}-${hi}`, lines, timeoutMs: 10_000 });
  const logId = Buffer.from(writer.logId).toString('hex');
  const throughMs = 1; // of no use here: only samples can say more
  await api.pool.query(`INSERT INTO log_ranges VALUES ($1, 0, $2, $3, 1, 'loaded', $4, '{}', 0, $5)`, [
    logId,
    lo,
    hi,
    events.length,
    throughMs,
  ]);
  const note = JSON.stringify({ logId, partition: 0, hi, throughMs });
  await api.pool.query('SELECT pg_notify($1, $2)', [CHANNELS.loaded, note]);
}

async function load(events: LoggedEvent[]): Promise<void> {
  await insert(await append(events));
}

const usage = (rest: string) => `/api/v1/usage/ada%2F1/${rest}`;

/** A number of the answer by its own text. */
function numberIn(text: string, name: string): string {
  return new RegExp(`"${name}":(-?[\\d.]+)`).exec(text)?.[1] ?? 'missing';
}

describe('a counter', () => {
  it.each(AGGREGATIONS)('of %s is exact for this month and for the ones before', async (aggregation) => {
    for (const atMs of [now, now - 30 * 86_400_000, now - 60 * 86_400_000]) {
      const at = isoText(atMs);
      const answer = await api.call('GET', usage(`${aggregation}?at=${at}`));
      const month = calendarSpan('month', atMs);
      const expected = expectedValue(within(happenings, month), aggregation);
      expect(unitsOf(numberIn(answer.text, 'current'))).toBe(expected);
      expect(answer.body).toMatchObject({
        customerId,
        meterId: aggregation,
        unit: 'pieces',
        periodStart: isoText(month.fromMs),
        periodEnd: isoText(month.toMs),
      });
    }
  });

  it.each(AGGREGATIONS)('of %s is exact over any span of milliseconds', async (aggregation) => {
    const meter = await findMeter(api.pool, environment, aggregation);
    if (!meter) throw new Error('the meter is gone');
    const moments = happenings.flatMap(({ occurredAtMs }) => [occurredAtMs, occurredAtMs + 1]);
    const moment = fc.oneof(
      fc.constantFrom(...moments),
      fc.integer({ min: now - 71 * 86_400_000, max: now }),
    );
    await fc.assert(
      fc.asyncProperty(moment, moment, async (a, b) => {
        const span: Span = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        const current = await readCounter(warehouse, { environment, customerId, meter }, span);
        expect(unitsOf(current)).toBe(expectedValue(within(happenings, span), aggregation));
      }),
      { numRuns: 25 },
    );
  });

  it('of nothing is 0, for a max too', async () => {
    expect((await api.call('GET', usage('empty'))).body.current).toBe(0);
    expect((await api.call('GET', usage('sum?at=2001-01-01T00:00:00Z'))).body.current).toBe(0);
  });

  it('keeps twelve digits behind fifteen before', async () => {
    await makeMeter('wide', 'sum');
    const wide = { ...happenings[0], properties: {}, occurredAtMs: now, createdAtMs: now };
    await load([
      { ...logged({ ...wide, id: 'w1', units: 0n }, 'wide'), value: '123456789.000000000001' },
      { ...logged({ ...wide, id: 'w2', units: 0n }, 'wide'), value: '999999999999999.999999999999' },
    ]);
    expect((await api.call('GET', usage('wide'))).text).toContain(
      '"current":1000000123456789,'.replace(/,$/, ''),
    );
    expect(numberIn((await api.call('GET', usage('wide'))).text, 'current')).toBe('1000000123456789');
  });

  it('is found by ids as well as by names, and by nobody else', async () => {
    const { data } = (await api.call('GET', '/api/v1/meters')).body;
    const { id } = data.find(({ key }: { key: string }) => key === 'sum');
    expect((await api.call('GET', `/api/v1/usage/${customerId}/${id}`)).body.meterId).toBe('sum');
    expectRefusal(await api.call('GET', '/api/v1/usage/nobody/sum'), 'customer_not_found', 'customerId');
    expectRefusal(await api.call('GET', usage('nothing')), 'meter_not_found', 'meterId');
    const key = api.keys.test.secret;
    expectRefusal(await api.call('GET', usage('sum'), { key }), 'customer_not_found', 'customerId');
    expectRefusal(await api.call('GET', usage('sum?at=yesterday')), 'invalid_request', 'at');
    expectRefusal(await api.call('GET', usage('sum?at=2026-02-30T00:00:00Z')), 'invalid_request', 'at');
    expectRefusal(await api.call('GET', usage('sum?consistency=weak')), 'invalid_request', 'consistency');
  });
});

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
      const answer = await api.call(
        'GET',
        usage(`${aggregation}/breakdown?window=all&limit=1000&dimension=${dimension}`),
      );
      const expected = expectedGroups(happenings, aggregation, labelOf);
      const shown = [...answer.text.matchAll(/\{"value":("[^"]*"),"total":([-\d.]+),"count":(\d+)/g)];
      const seen = shown.map(([, value = '', total = '', count]) => ({
        value: JSON.parse(value),
        total: unitsOf(total),
        count: Number(count),
      }));
      expect(seen).toEqual(expected.slice(0, 1000));
      expect(unitsOf(numberIn(answer.text, 'total'))).toBe(expectedValue(happenings, aggregation));
    }
  });

  it('covers the window that is asked for', async () => {
    const spans: Array<[query: string, window: string, span: Span]> = [
      ['', 'current_period', calendarSpan('month', now)],
      ['&window=month', 'month', calendarSpan('month', now)],
      ['&window=week', 'week', calendarSpan('week', now)],
      ['&window=day', 'day', calendarSpan('day', now)],
    ];
    const [from = now, to = now] = happenings
      .map((one) => one.occurredAtMs)
      .slice(0, 2)
      .sort();
    const custom = `&from=${isoText(from)}&to=${isoText(to)}`;
    for (const [query, window, span] of [...spans, [custom, 'custom', { fromMs: from, toMs: to }] as const]) {
      const answer = await api.call('GET', usage(`sum/breakdown?dimension=region${query}`));
      expect(answer.body).toMatchObject({ window, meterId: 'sum', dimension: 'region' });
      expect(unitsOf(numberIn(answer.text, 'total'))).toBe(expectedValue(within(happenings, span), 'sum'));
    }
  });

  it.each(AGGREGATIONS)('of %s folds what is beyond the limit into other', async (aggregation) => {
    const answer = await api.call('GET', usage(`${aggregation}/breakdown?dimension=$day&window=all&limit=3`));
    expect(answer.body.breakdown).toHaveLength(3);
    const shown = answer.body.breakdown.map(({ value }: { value: string }) => value);
    const rest = happenings.filter((one) => !shown.includes(labels.$day?.(one)));
    const other = /"other":\{"total":([-\d.]+),"count":(\d+)/.exec(answer.text);
    expect(unitsOf(other?.[1] ?? '')).toBe(expectedValue(rest, aggregation));
    expect(Number(other?.[2])).toBe(rest.length);
  });

  it('costs what the rate of each value says, in every dimension, to the last digit', async () => {
    const rates: Record<string, string> = { eu: '0.000000000001', us: '2', '': '7.5' };
    const creditRates = { property: 'region', rates: { eu: 1e-12, us: 2, '': 7.5 } };
    const body = `{"key":"rated","name":"r","aggregation":"sum","creditRate":0.1,"creditRates":${JSON.stringify(
      creditRates,
    ).replace('1e-12', '0.000000000001')}}`;
    expect((await api.call('POST', '/api/v1/meters', { body })).status).toBe(201);
    await load(happenings.map((one) => logged(one, 'rated')));
    const cost = (some: Happening[]) =>
      some.reduce((sum, one) => sum + one.units * unitsOf(rates[labels.region?.(one) ?? ''] ?? '0.1'), 0n);
    for (const dimension of ['region', '$month']) {
      const answer = await api.call('GET', usage(`rated/breakdown?dimension=${dimension}&window=all`));
      expect(unitsOf(numberIn(answer.text, 'totalCreditCost'), 24)).toBe(cost(happenings));
      for (const [, label, credits = ''] of answer.text.matchAll(
        /\{"value":"([^"]*)"[^}]*"creditCost":([-\d.]+)/g,
      )) {
        expect(unitsOf(credits, 24)).toBe(
          cost(happenings.filter((one) => labels[dimension]?.(one) === label)),
        );
      }
    }
  });

  it('refuses what cannot be answered', async () => {
    const ask = (query: string) => api.call('GET', usage(`sum/breakdown?${query}`));
    const from = '2026-01-01T00:00:00Z';
    expectRefusal(await ask(''), 'invalid_request', 'dimension');
    expectRefusal(await ask('dimension=a&window=year'), 'invalid_request', 'window');
    expectRefusal(await ask(`dimension=a&from=${from}`), 'invalid_request', 'to');
    expectRefusal(await ask(`dimension=a&to=${from}`), 'invalid_request', 'from');
    expectRefusal(await ask(`dimension=a&from=${from}&to=${from}`), 'invalid_request', 'to');
    expectRefusal(
      await ask(`dimension=a&window=day&from=${from}&to=2027-01-01T00:00:00Z`),
      'invalid_request',
      'window',
    );
    expectRefusal(await ask('dimension=a&limit=1001'), 'invalid_request', 'limit');
  });

  it('takes quotes, backslashes and placeholders in a dimension as text', async () => {
    for (const dimension of [`a'b`, 'a\\', `{limit:UInt64}`, `') OR 1=1 --`, '$minute']) {
      const answer = await api.call(
        'GET',
        usage(`count/breakdown?dimension=${encodeURIComponent(dimension)}&window=all`),
      );
      expect(answer.body.breakdown).toEqual([
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
      const answer = await api.call('GET', usage(`latest/events?limit=333${cursor}`));
      expect(answer.status).toBe(200);
      seen.push(...answer.body.data);
      cursor = answer.body.nextCursor ? `&cursor=${answer.body.nextCursor}` : '';
    } while (cursor !== '');
    const byId = new Map(happenings.map((one) => [eventId(`${one.id} latest`), one]));
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
      expect(owner).toBe(customerId);
    }
  });

  it('keeps to from ≤ occurredAt < to, and shows values to the last digit', async () => {
    const moments = happenings.map((one) => one.occurredAtMs).sort((a, b) => a - b);
    const span = { fromMs: moments[700] ?? 0, toMs: moments[900] ?? 0 };
    const query = new URLSearchParams({ from: isoText(span.fromMs), to: isoText(span.toMs), limit: '1000' });
    const { text } = await api.call('GET', usage(`sum/events?${query}`));
    const values = [...text.matchAll(/"value":(-?[\d.]+)/g)].map(([, value = '']) => unitsOf(value));
    const expected = within(happenings, span).map(({ units }) => units);
    expect(values.sort(byUnits)).toEqual(expected.sort(byUnits));
  });

  it('refuses a cursor that it did not give', async () => {
    for (const cursor of ['x', 'W10', 'WzEsMl0', Buffer.from('[1e300,"a"]').toString('base64url')]) {
      expectRefusal(await api.call('GET', usage(`sum/events?cursor=${cursor}`)), 'invalid_request', 'cursor');
    }
  });
});

describe('a read behind the log', () => {
  const one: Happening = { id: '', units: 10n ** 12n, occurredAtMs: now, createdAtMs: now, properties: {} };

  it('asks for a load, waits for it, and counts what was acknowledged before', async () => {
    await makeMeter('waited', 'sum');
    let heard = () => undefined as unknown;
    const asked = new Promise((resolve) => {
      heard = () => resolve(undefined);
    });
    const listening = new Promise<() => Promise<void>>((resolve) => {
      const listener = createListener(
        { url: () => api.url, log },
        {
          channels: { [CHANNELS.readerWaits]: () => heard() },
          onSession: () => resolve(() => listener.close()),
        },
      );
    });
    const stop = await listening;
    const appended = await append([logged({ ...one, id: 'late 1' }, 'waited')]);
    const durableAtMs = Date.now();
    for (const consistency of ['', '?consistency=strong']) {
      const answer = api.call('GET', usage(`waited${consistency}`));
      if (consistency === '') {
        await asked;
        await insert(appended);
      }
      const { body } = await answer;
      expect(body.current).toBe(1);
      expect(Date.parse(body.asOf)).toBeGreaterThanOrEqual(durableAtMs);
    }
    await stop();
  });

  it('answers after a second without what is not loaded yet, and says so by its asOf', async () => {
    const before = (await api.call('GET', usage('waited'))).body;
    const appended = await append([logged({ ...one, id: 'late 2' }, 'waited')]);
    const durableAtMs = Date.now();
    for (const consistency of ['', '?consistency=eventual']) {
      const { body } = await api.call('GET', usage(`waited${consistency}`));
      expect(body.current).toBe(before.current);
      expect(Date.parse(body.asOf)).toBeLessThanOrEqual(durableAtMs);
      expect(Date.parse(body.asOf)).toBeGreaterThanOrEqual(Date.parse(before.asOf));
    }
    expectRefusal(await api.call('GET', usage('waited?consistency=strong')), 'unavailable');
    await insert(appended);
    expect((await api.call('GET', usage('waited?consistency=strong'))).body.current).toBe(2);
  });
});

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}

function byUnits(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
