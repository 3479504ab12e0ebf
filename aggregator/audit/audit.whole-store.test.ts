import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../infra/ports/clock.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { arrivalText } from '../../schemas/stored/event-row.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { HOURLY_MERGED } from '../../tests/support/hourly-values.ts';
import { eventId } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import {
  appendSettled,
  createEnd,
  deleteEvent,
  events,
  exactly,
  placeOf,
  settledUpTo,
  start,
  WAIT,
} from '../aggregator-under-test.ts';
import { takeLease } from '../load/lease.ts';
import type { Aggregator } from '../start-aggregator.ts';
import { audit } from './audit-under-test.ts';
import { type Comparison, comparePlaces } from './compare-places.ts';
import { AUDIT_EXIT, requestAudit } from './request-audit.ts';

const STATES = `SELECT customer_id, hour, ${HOURLY_MERGED.join(', ')}, argMaxMerge(latest) AS gauge
                FROM metergate.usage_hourly GROUP BY customer_id, hour ORDER BY customer_id, hour`;

describe('an audit', () => {
  it('finds nothing where everything was counted, dropped lines and odd names included', async () => {
    const { stores } = await loaded([
      { id: 'bad', line: 'garbage\n' },
      ...events(0, 400),
      { id: 'bad too', line: 'garbage\n' },
      ...events(5, 6),
    ]);
    await appendSettled(stores, [{ id: 'odd', meterKey: 'a"b\\c☃', value: '-0.000000000001' }]);
    const ledger = await audit(stores);
    expect(ledger).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
    expect(ledger.hours).toBeGreaterThan(7);
  });

  // Red when both sides do not cut the customers by the same hash.
  it('finds the same in parts as at once', async () => {
    const { stores, aggregator } = await loaded(events(0, 400));
    await stores.rows(WITHOUT_HOURS_OF_ONE);
    await aggregator.close();
    const [whole, parts] = [await compareWith(stores, 1_000_000), await compareWith(stores, 3)];
    expect(whole.differences.length).toBeGreaterThan(0);
    expect(parts.hours).toBe(whole.hours);
    expect(sorted(parts)).toEqual(sorted(whole));
  });

  // Red when blocks are read meanwhile: the audit of a distributed log holds one block of each partition.
  it('reads nothing ahead while the load is paused', async () => {
    const stores = await openLoadStores();
    const [end, seen] = [createEnd(), { looks: 0, reads: 0, isArmed: false }];
    const reader: EventLogReader = {
      ...stores.reader,
      durableEnd: (partition) => stores.reader.durableEnd(partition).finally(() => seen.looks++),
      read: (...requested) => stores.reader.read(...requested).finally(() => seen.reads++),
    };
    const warehouse: Warehouse = {
      ...stores.warehouse,
      query: async (statement) => {
        if (seen.isArmed && statement.sql.includes('events FINAL')) await end.here();
        return await stores.warehouse.query(statement);
      },
    };
    start(stores, { reader, warehouse });
    await appendSettled(stores, events(0, 10));
    seen.isArmed = true;
    const audited = audit(stores);
    await end.reached;
    const { looks, reads } = seen;
    const last = await stores.append(events(10, 20));
    await vi.waitFor(() => expect(seen.looks).toBeGreaterThan(looks + 5), WAIT);
    expect(seen.reads).toBe(reads);
    end.release();
    expect(await audited).toMatchObject({ code: AUDIT_EXIT.same });
    await settledUpTo(stores, last);
  });

  it('exits with 2 when no aggregator responds', async () => {
    const stores = await openLoadStores();
    const lines: string[] = [];
    const request = { repair: false, beginWithinMs: 150, print: (line: string) => lines.push(line) };
    expect(await requestAudit(stores.pool, request)).toBe(AUDIT_EXIT.impossible);
    expect(lines).toEqual([
      'No aggregator began the audit: start Metergate first, or wait for the audit that it is doing.',
    ]);
    expect((await stores.pool.query('SELECT * FROM audit_runs')).rows).toEqual([]);
  });

  it('leaves alone what the log no longer holds', async () => {
    const stores = await openLoadStores({ segmentBytesMax: 10_000 });
    start(stores);
    for (let at = 0; at < 10; at++) {
      const some = events(at * 20, at * 20 + 20).map((event) => ({
        ...event,
        createdAtMs: TEST_NOW_MS + at * 1_000,
      }));
      await appendSettled(stores, some, TEST_NOW_MS + at * 1_000 + 500);
    }
    const segments = readdirSync(stores.logDirectory)
      .filter((name) => name.endsWith('.seg'))
      .sort();
    expect(segments.length).toBeGreaterThan(3);
    for (const name of segments.slice(0, 2)) rmSync(join(stores.logDirectory, name));
    expect(await audit(stores)).toMatchObject({ code: AUDIT_EXIT.same });
    await deleteEvent(stores, 199);
    expect(await audit(stores)).toMatchObject({ code: AUDIT_EXIT.different });
    expect(await audit(stores, { repair: true })).toMatchObject({ code: AUDIT_EXIT.same });
    expect(await stores.counted()).toEqual(exactly(200));
  });
});

const WITHOUT_HOURS_OF_ONE = `ALTER TABLE metergate.usage_hourly DELETE WHERE customer_id = 'cus_1'
                              SETTINGS mutations_sync = 1`;
const WITHOUT_PROPERTIES_OF_ONE = `ALTER TABLE metergate.usage_by_property
                                   DELETE WHERE customer_id = 'cus_1' SETTINGS mutations_sync = 1`;
const CLOSED_METERS = `INSERT INTO metergate.closed_properties
                       SELECT DISTINCT environment, meter_key, '', toStartOfMonth(hour)
                       FROM metergate.usage_by_property`;
const CLOSINGS_LOST = 'ALTER TABLE metergate.closed_properties DELETE WHERE true SETTINGS mutations_sync = 1';
const HOURS_OF_ONE_TWICE = `INSERT INTO metergate.usage_hourly
                            SELECT * FROM metergate.usage_hourly WHERE customer_id = 'cus_2'`;
const OTHER_VALUE = `ALTER TABLE metergate.events UPDATE value = value + 1
                     WHERE id = '${eventId('event 7')}' SETTINGS mutations_sync = 1`;

/** What goes wrong, and which sums it shows in. */
const damages: Array<[what: string, kinds: string[], act: (stores: LoadStores) => Promise<unknown>]> = [
  ['an hour that is missing', ['rollup'], ({ rows }) => rows(WITHOUT_HOURS_OF_ONE)],
  ['an hour that was counted twice', ['rollup'], ({ rows }) => rows(HOURS_OF_ONE_TWICE)],
  [
    'rows by property that were left out, with the record of it lost',
    ['rollup'],
    async (stores) => {
      await stores.rows(CLOSED_METERS);
      await stores.rows(WITHOUT_PROPERTIES_OF_ONE);
      expect((await audit(stores)).code).toBe(AUDIT_EXIT.same);
      await stores.rows(CLOSINGS_LOST);
    },
  ],
  ['an event that is missing', ['log', 'rollup'], (stores) => deleteEvent(stores, 7)],
  ['an event with another value', ['log', 'rollup'], ({ rows }) => rows(OTHER_VALUE)],
  [
    'an event that was never sent',
    ['log'],
    (stores) => {
      const lines = eventLines([{ id: eventId('nobody'), customerId: 'cus_1' }]);
      return stores.warehouse.insertEvents({ token: randomUUID(), lines, timeoutMs: 5_000 });
    },
  ],
];

describe('a repair', () => {
  it('of each damage makes everything as it was, again and again', async () => {
    const { stores } = await loaded(
      events(0, 200).map((event, at) => (at < 5 ? gauge(at) : { ...event, uniqueValue: `=${at % 7}` })),
    );
    const before = await stores.rows<{ customer_id: string; gauge: string }>(STATES);
    // Red when a repair orders gauges of the same time differently from the load.
    const gauges = before.filter(({ customer_id: customer }) => customer === 'cus_1').at(-1);
    expect(gauges).toMatchObject({ gauge: '4.25' });
    for (const [what, kinds, damage] of damages) {
      // Twice: what is put back is the same block as the first time, and must not be taken for a retry of it.
      // Red when its token does not name the run.
      for (let round = 0; round < 2; round++) {
        await damage(stores);
        const found = await audit(stores);
        expect(found.code, what).toBe(AUDIT_EXIT.different);
        expect([...new Set(found.differences.map(({ kind }) => kind))].sort(), what).toEqual(kinds);
        const repaired = await audit(stores, { repair: true });
        expect(repaired, what).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
        expect(await stores.rows(STATES), what).toEqual(before);
        expect(await stores.counted(), what).toEqual(exactly(200));
      }
    }
  });

  // Red when one comparison is all that is repaired.
  it('of more than one comparison gives puts all of it right', async () => {
    const stores = await openLoadStores();
    start(stores, { auditLimits: { differencesMax: 2 } });
    await appendSettled(stores, events(0, 120));
    const before = await stores.rows(STATES);
    await stores.rows('ALTER TABLE metergate.events DELETE WHERE true SETTINGS mutations_sync = 1');
    expect(await audit(stores, { repair: true })).toMatchObject({ code: AUDIT_EXIT.same, differences: [] });
    expect(await stores.rows(STATES)).toEqual(before);
    expect(await stores.counted()).toEqual(exactly(120));
  });

  it('does not stop the load for good', async () => {
    const { stores } = await loaded(events(0, 50));
    await deleteEvent(stores, 3);
    await audit(stores, { repair: true });
    await appendSettled(stores, events(50, 80));
    expect(await stores.counted()).toEqual(exactly(80));
  });
});

async function loaded(
  some: Parameters<LoadStores['append']>[0],
): Promise<{ stores: LoadStores; aggregator: Aggregator }> {
  const stores = await openLoadStores();
  const aggregator = start(stores);
  await appendSettled(stores, some);
  return { stores, aggregator };
}

/** Replaces an ordinary event by several that arrived in one millisecond and carry their own time. */
function gauge(at: number) {
  const [event] = events(at, at + 1);
  if (!event) throw new Error('there is one');
  return { ...event, customerId: 'cus_1', occurredAtMs: TEST_NOW_MS, uniqueValue: arrivalText(at) };
}

async function compareWith(stores: LoadStores, hoursMax: number): Promise<Comparison> {
  const deps = { pool: stores.pool, clock: systemClock, log: SILENT };
  const lease = await takeLease(deps, placeOf(stores), { owner: 'audit', leaseMs: 10_000 });
  if (!lease) throw new Error('another owner holds the partition');
  const partition = { lease, position: await stores.reader.durableEnd(0) };
  const settings = { isDistributed: false, keptFromMs: () => 0, eventAheadMsMax: 0, limits: { hoursMax } };
  const found = await comparePlaces({ ...stores, ...settings }, (work) => work([partition]));
  await lease.end();
  return found;
}

function sorted({ differences }: Comparison): string[] {
  return differences.map((difference) => JSON.stringify(difference)).sort();
}
