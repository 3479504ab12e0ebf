import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_CHANGES } from '../../domain/store/usage-views.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { deferred } from '../../tests/support/deferred.ts';
import type { TestEvent } from '../../tests/support/event-line.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { expectedValue, type Happening, unitsOf, within } from '../../tests/support/usage-oracle.ts';
import { expectRejection } from '../api-under-test.ts';
import { findMeter, type MeterRow } from '../store/meters.ts';
import { readCounter } from '../store/read-counter.ts';
import { isoText, numberIn, usageOfThisFile } from './usage-under-test.ts';

/*
 * Counters over HTTP from a real log, Postgres and ClickHouse; this file plays the aggregator.
 *
 * Mutants this suite catches: an edge with <= in place of <; max of an empty edge as 0; toFloat64 in a sum;
 * the environment left out; no wait; asOf as the time of the response; a load not requested.
 */
const usage = await usageOfThisFile();
const {
  happenings,
  nowMs,
  stores: { warehouse },
} = usage;

async function meterOf(key: string): Promise<MeterRow> {
  const meter = await findMeter(usage.api.pool, usage.environment, key);
  if (!meter) throw new Error(`there is no meter ${key}`);
  return meter;
}

function newCustomer(): { environment: string; customerId: string } {
  return { environment: usage.environment, customerId: usage.customerId };
}

async function loadNow(events: TestEvent[]): Promise<void> {
  await usage.load(await usage.append(events));
}

describe('a counter', () => {
  it.each(AGGREGATIONS)('of %s is exact for this month and for the ones before', async (aggregation) => {
    for (const atMs of [nowMs, nowMs - 30 * 86_400_000, nowMs - 60 * 86_400_000]) {
      const at = isoText(atMs);
      const response = await usage.read(`${aggregation}?at=${at}`);
      const month = calendarSpan('month', atMs);
      const expected = expectedValue(within(happenings, month), aggregation);
      expect(unitsOf(numberIn(response.text, 'current'))).toBe(expected);
      expect(response.body).toMatchObject({
        customerId: usage.customerId,
        meterId: aggregation,
        unit: 'pieces',
        periodStart: isoText(month.fromMs),
        periodEnd: isoText(month.toMs),
      });
    }
  });

  /** Each response is checked against its schema with decimals as strings. */
  it('and all else that is read of usage may be had as text, digit by digit', async () => {
    const headers = { prefer: 'numbers=text' };
    const plain = await usage.read(`sum?at=${isoText(nowMs)}`);
    const asText = await usage.read(`sum?at=${isoText(nowMs)}`, { headers });
    expect(asText.body.current).toBe(numberIn(plain.text, 'current'));
    for (const rest of ['sum/breakdown?dimension=region&window=all', 'sum/events?limit=5']) {
      const response = await usage.read(rest, { headers });
      expect([response.status, response.headers['preference-applied']]).toEqual([200, 'numbers=text']);
    }
  });

  it.each(AGGREGATIONS)('of %s is exact over any span of milliseconds', async (aggregation) => {
    const meter = await meterOf(aggregation);
    const times = happenings.flatMap(({ occurredAtMs }) => [occurredAtMs, occurredAtMs + 1]);
    const time = fc.oneof(
      fc.constantFrom(...times),
      fc.integer({ min: nowMs - 71 * 86_400_000, max: nowMs }),
    );
    await fc.assert(
      fc.asyncProperty(time, time, async (a, b) => {
        const span: Span = { fromMs: Math.min(a, b), toMs: Math.max(a, b) };
        const current = await readCounter({ warehouse, view: NO_CHANGES }, { ...newCustomer(), meter }, span);
        expect(unitsOf(current)).toBe(expectedValue(within(happenings, span), aggregation));
      }),
      { numRuns: 25 },
    );
  });

  it('of nothing is 0, for a max too', async () => {
    await usage.makeMeter('empty', 'max');
    expect((await usage.read('empty')).body.current).toBe(0);
    expect((await usage.read('sum?at=2001-01-01T00:00:00Z')).body.current).toBe(0);
  });

  const OF_VALUES = AGGREGATIONS.filter((one) => one !== 'unique');
  const SIGNS = OF_VALUES.flatMap((one) => [[one, 'below', -1n] as const, [one, 'above', 1n] as const]);
  it.each(SIGNS)(
    'of %s of values %s zero is exact, over hours, edges and both',
    async (aggregation, side, sign) => {
      const key = `${aggregation}-${side}`;
      await usage.makeMeter(key, aggregation);
      const signed = happenings.slice(0, 50).map((one) => {
        return { ...one, units: sign * (one.units < 0n ? -one.units : one.units + 1n) };
      });
      await loadNow(signed.map((one) => usage.logged(one, key)));
      const meter = await meterOf(key);
      const times = signed.map(({ occurredAtMs }) => occurredAtMs).sort((a, b) => a - b);
      for (const [from, to] of [
        [0, 49],
        [10, 20],
        [3, 4],
      ] as const) {
        const span = { fromMs: times[from] ?? 0, toMs: times[to] ?? 0 };
        const expected = expectedValue(within(signed, span), aggregation);
        expect(
          unitsOf(await readCounter({ warehouse, view: NO_CHANGES }, { ...newCustomer(), meter }, span)),
        ).toBe(expected);
      }
    },
  );

  it('contains nothing of another environment, whatever the names', async () => {
    await usage.makeMeter('fenced', 'sum');
    const one = { ...usage.logged(happenings[0] as Happening, 'fenced'), occurredAtMs: nowMs };
    await loadNow([{ ...one, environment: 'ws_other:live' }]);
    await loadNow([{ ...one, environment: `${usage.api.keys.workspaceId}:test` }]);
    expect((await usage.read('fenced?consistency=strong')).body.current).toBe(0);
    const breakdown = await usage.read('fenced/breakdown?dimension=region&window=all');
    expect(breakdown.body).toMatchObject({ total: 0, breakdown: [] });
    expect((await usage.read('fenced/events')).body.data).toEqual([]);
  });

  it('keeps twelve digits behind fifteen before', async () => {
    await usage.makeMeter('wide', 'sum');
    const wide = { id: '', units: 0n, occurredAtMs: nowMs, createdAtMs: nowMs, properties: {} };
    const current = async () => numberIn((await usage.read('wide')).text, 'current');
    await loadNow([{ ...usage.logged({ ...wide, id: 'w1' }, 'wide'), value: '123456789.000000000001' }]);
    expect(await current()).toBe('123456789.000000000001');
    await loadNow([
      { ...usage.logged({ ...wide, id: 'w2' }, 'wide'), value: '999999999999999.999999999999' },
    ]);
    expect(await current()).toBe('1000000123456789');
  });

  it('is found by ids as well as by names, and not in another environment', async () => {
    const { data } = (await usage.api.call('GET', '/api/v1/meters')).body;
    const { id } = data.find(({ key }: { key: string }) => key === 'sum');
    expect((await usage.api.call('GET', `/api/v1/usage/${usage.customerId}/${id}`)).body.meterId).toBe('sum');
    const unknown = await usage.api.call('GET', '/api/v1/usage/cus_unknown/sum');
    expectRejection(unknown, 'customer_not_found', 'customerId');
    expectRejection(await usage.read('nothing'), 'meter_not_found', 'meterId');
    const key = usage.api.keys.test.secret;
    expectRejection(await usage.read('sum', { key }), 'customer_not_found', 'customerId');
    expectRejection(await usage.read('sum?at=yesterday'), 'invalid_request', 'at');
    expectRejection(await usage.read('sum?at=2026-02-30T00:00:00Z'), 'invalid_request', 'at');
    expectRejection(await usage.read('sum?consistency=weak'), 'invalid_request', 'consistency');
  });
});

describe('a read behind the log', () => {
  const one = (id: string): Happening => {
    return { id, units: 10n ** 12n, occurredAtMs: nowMs, createdAtMs: nowMs, properties: {} };
  };

  it('requests a load, waits for it, and counts what was acknowledged before', async () => {
    await usage.makeMeter('waited', 'sum');
    const [listening, requested] = [deferred<void>(), deferred<void>()];
    const listener = createListener(
      { url: () => usage.api.url, log: SILENT },
      {
        channels: { [CHANNELS.readerWaits]: () => requested.resolve() },
        onSession: () => listening.resolve(),
      },
    );
    await listening.promise;
    const appended = await usage.append([usage.logged(one('late 1'), 'waited')]);
    const durableAtMs = Date.now();
    // The strong read waits for longer than a load takes on a busy machine.
    for (const consistency of ['?consistency=strong', '']) {
      const response = usage.read(`waited${consistency}`);
      if (consistency !== '') {
        await requested.promise;
        await usage.load(appended);
      }
      const { body } = await response;
      expect(body.current).toBe(1);
      expect(Date.parse(body.asOf)).toBeGreaterThanOrEqual(durableAtMs);
    }
    await listener.close();
  });

  it('responds after a second without what is not loaded yet, as its asOf shows', async () => {
    const before = (await usage.read('waited')).body;
    const appended = await usage.append([usage.logged(one('late 2'), 'waited')]);
    const durableAtMs = Date.now();
    const strong = usage.read('waited?consistency=strong');
    for (const consistency of ['', '?consistency=eventual']) {
      const startedMs = performance.now();
      const { body } = await usage.read(`waited${consistency}`);
      if (consistency === '') expect(performance.now() - startedMs).toBeGreaterThan(900);
      expect(body.current).toBe(before.current);
      expect(Date.parse(body.asOf)).toBeLessThanOrEqual(durableAtMs);
      expect(Date.parse(body.asOf)).toBeGreaterThanOrEqual(Date.parse(before.asOf));
    }
    expectRejection(await strong, 'unavailable');
    await usage.load(appended);
    expect((await usage.read('waited?consistency=strong')).body.current).toBe(2);
  });

  // Red when an audit with repair is ignored: an hour shows too little while it is rewritten.
  it.each<[string, boolean]>([
    ["(true, 'asked', NULL)", true],
    ["(true, 'running', NULL)", true],
    ["(true, 'failed', NULL)", true],
    ["(true, 'failed', NULL), (false, 'done', '[1]')", true],
    ["(true, 'failed', NULL), (false, 'done', '[]')", false],
    ["(true, 'failed', NULL), (true, 'done', '[1]')", false],
    ["(true, 'done', '[]'), (false, 'failed', NULL)", false],
  ])('rejects strong reads while a repair is open: %s', async (runs, isOpen) => {
    const { pool } = usage.api;
    await pool.query(`INSERT INTO audit_runs (id, repair, state, differences, finished_at)
      SELECT number, repair, state, differences::jsonb, now() + number * interval '1 second'
        FROM (SELECT row_number() OVER () AS number, *
                FROM (VALUES ${runs}) AS run (repair, state, differences)) AS runs`);
    try {
      for (const path of ['waited?', 'waited/breakdown?dimension=region&', 'waited/events?']) {
        const strong = await usage.read(`${path}consistency=strong`);
        if (isOpen) expectRejection(strong, 'unavailable');
        else expect(strong.status).toBe(200);
      }
      for (const path of ['ada%2F1?', `events?id=use_${'a'.repeat(26)}&`]) {
        const strong = await usage.api.call('GET', `/api/v1/usage/${path}consistency=strong`);
        expect(strong.status).toBe(isOpen ? 503 : 200);
      }
      expect((await usage.read('waited')).status).toBe(200);
    } finally {
      await pool.query('DELETE FROM audit_runs');
    }
  });
});
