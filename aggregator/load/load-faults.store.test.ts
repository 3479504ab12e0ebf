import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { markForSettlement } from '../../domain/store/settlement-marks.ts';
import { poll } from '../../infra/platform/poll.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { ofLaterVersion } from '../../tests/support/earlier-frames.ts';
import { eventLine, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { eventId, frameOf } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import {
  alarms,
  appendSettled,
  createEnd,
  endLeases,
  events,
  exactly,
  placeOf,
  ranges,
  settledUpTo,
  start,
  startOnStores,
  WAIT,
  withInsert,
} from '../aggregator-under-test.ts';
import { ENVIRONMENT, METER, openTenant } from '../settle/settlement-under-test.ts';
import { ensureEventIds } from '../store/event-ids.ts';
import { readMarks } from '../store/settlement-marks.ts';

describe('a line that the warehouse cannot read', () => {
  // Red when its number is not written down with the range: the retry would send other bytes.
  it('is quarantined, and everything around it is counted', async () => {
    const stores = await openLoadStores();
    const bad = { id: 'bad', uniqueValue: '\ud800' };
    const end = await stores.append([...events(0, 20), bad, ...events(20, 30)]);
    await stores.append([{ id: 'worse', line: 'garbage\n' }]);
    start(stores);
    const last = await appendSettled(stores, events(30, 40));
    expect(end).toBeLessThan(last);
    expect(await stores.counted()).toEqual(exactly(40));
    const garbage = eventLine({ id: eventId('worse') }).replace('1,"",{}', 'garbage');
    expect(await quarantined(stores)).toEqual([eventLine({ ...bad, id: eventId('bad') }), garbage]);
    expect((await ranges(stores)).flatMap(({ dropped }) => dropped)).toContain(20);
  });

  it('is not looked for again by the process that follows', async () => {
    const stores = await openLoadStores();
    await stores.append([{ id: 'bad', line: 'garbage\n' }, ...events(0, 10)]);
    const end = createEnd();
    start(stores, { warehouse: withInsert(stores, (insert) => insert().then(end.here)) });
    await end.reached;
    const followed = { ...stores.warehouse, accepts: vi.fn(stores.warehouse.accepts) };
    start(stores, { warehouse: followed });
    await settledUpTo(stores, await stores.reader.durableEnd(0));
    expect(followed.accepts).not.toHaveBeenCalled();
    expect(await stores.counted()).toEqual(exactly(10));
    end.release();
  });
});

describe('a partition', () => {
  it('stops before a frame of a later release, reports it, and does not skip it', async () => {
    const stores = await openLoadStores();
    const before = await stores.append(events(0, 10));
    start(stores);
    await settledUpTo(stores, before);
    await stores.writer.append(laterFrame(stores));
    const behind = await stores.append(events(10, 20));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['frame_version_unknown']), WAIT);
    expect((await ranges(stores)).at(-1)?.hi).toBe(before);
    expect(behind).toBeGreaterThan(before);
    expect(await stores.counted()).toEqual(exactly(10));
  });

  it('stops when the log holds other bytes than were frozen', async () => {
    const stores = await openLoadStores();
    await stores.append(events(0, 10));
    const end = createEnd();
    const first = start(stores, { warehouse: withInsert(stores, () => end.here()) });
    await end.reached;
    const closed = first.close();
    await stores.pool.query('UPDATE log_ranges SET checksum = checksum + 1');
    start(stores);
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['range_changed']), WAIT);
    end.release();
    await closed;
  });

  // Red when it is healthy once what it found unsettled is settled: each try begins so.
  it('that fails before each load has an alarm until it loads, and none afterwards', async () => {
    const stores = await openLoadStores();
    // Forty years: its events were created on a fixed day.
    await ensureEventIds(stores.warehouse, 350_000);
    let tries = 0;
    let isUnavailable = true;
    const query = async <Row>(statement: Statement): Promise<Row[]> => {
      if (!isUnavailable || !statement.sql.includes('event_ids'))
        return await stores.warehouse.query<Row>(statement);
      tries += 1;
      await delay(700);
      throw new Transient('warehouse_unavailable', 'broken by the test');
    };
    const distributed = { deadLetters: { put: async () => undefined } };
    start(stores, { warehouse: { ...stores.warehouse, query } as Warehouse, distributed });
    await stores.writer.append(frameOf(stores.writer.logId, events(0, 10), 0, [0]));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['warehouse_unavailable']), WAIT);
    for (const first = tries; tries < first + 3; ) {
      expect(await alarms(stores)).toEqual(['warehouse_unavailable']);
    }
    isUnavailable = false;
    await settledUpTo(stores, await stores.reader.durableEnd(0));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
  });

  // Red when each range is settled as soon as it is found: hours may have the one that follows twice by then.
  it('settles nothing before what is sent again is repaired', async () => {
    const { stores } = await openTenant();
    const [dead, again] = [createEnd(), createEnd()];
    let inserts = 0;
    const dying = withInsert(stores, (insert) => (inserts++ === 0 ? insert() : dead.here()));
    start(stores, { warehouse: dying }, { owner: 'first' });
    await appendSettled(stores, events(0, 10));
    const last = await stores.append(events(10, 20));
    await dead.reached;
    await stores.pool.query("UPDATE log_ranges SET state = 'loaded' WHERE state = 'settled'");
    await endLeases(stores);
    start(
      stores,
      { warehouse: withInsert(stores, (insert) => again.here().then(insert)) },
      { owner: 'second' },
    );
    // Before both are closed.
    for (const { release } of [dead, again]) onTestFinished(release);
    await again.reached;
    // Of a change before: it is looked for while nothing is loaded.
    await markForSettlement(stores.pool, ENVIRONMENT, { meterKey: METER, from: new Date(TEST_NOW_MS) });
    await delay(1_500);
    expect((await ranges(stores)).map(({ state }) => state)).toEqual(['loaded', 'pending']);
    expect(await readMarks(stores.pool, 1)).toHaveLength(1);
    again.release();
    await vi.waitFor(async () => expect(await readMarks(stores.pool, 1)).toEqual([]), WAIT);
    await settledUpTo(stores, last);
    expect(await stores.counted()).toEqual(exactly(20));
  });

  it('is given up by an owner whose epoch is over: it neither marks nor freezes', async () => {
    const stores = await openLoadStores();
    await stores.append(events(0, 10));
    const end = createEnd();
    const first = start(
      stores,
      { warehouse: withInsert(stores, (insert) => insert().then(end.here)) },
      { owner: 'first' },
    );
    await end.reached;
    await endLeases(stores);
    start(stores, {}, { owner: 'second' });
    await appendSettled(stores, events(10, 20));
    const before = await ranges(stores);
    end.release();
    await stores.append(events(20, 30));
    await settledUpTo(stores, await stores.reader.durableEnd(0));
    expect(await ranges(stores)).toEqual([...before, expect.objectContaining({ state: 'settled' })]);
    expect(await owners(stores)).toEqual([{ owner: 'second', epoch: 2 }]);
    expect(await stores.counted()).toEqual(exactly(30));
    await first.close();
  });

  // Red when the partition's owner is not checked, and when alarms are cleared only at the start of a run.
  it('has no lasting alarm from an owner that learns late that another has taken over', async () => {
    const stores = await openLoadStores();
    const unavailable = new Transient('warehouse_unavailable', 'broken by the test');
    const clock = { ...systemClock, aheadMs: 0, monotonicMs: () => performance.now() + clock.aheadMs };
    await stores.append(events(0, 10));
    const end = createEnd();
    const rejected = withInsert(stores, () => end.here().then(() => Promise.reject(unavailable)));
    const first = start(stores, { warehouse: rejected }, { owner: 'first' });
    await end.reached;
    await endLeases(stores);
    start(stores, { clock }, { owner: 'second' });
    await appendSettled(stores, events(10, 20));
    end.release();
    await first.close();
    expect(await alarms(stores)).toEqual([]);

    await stores.pool.query(
      `INSERT INTO partition_alarms SELECT log_id, 0, 'warehouse_unavailable', '' FROM partition_leases`,
    );
    clock.aheadMs += 60_000;
    await stores.append(events(20, 30));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
  });

  // Red when the retry does not wait: a server continues with what was given up, and its hours came twice.
  it('sends again when what was given up runs no more', async () => {
    const stores = await openLoadStores();
    const steps: string[] = [];
    const warehouse = withInsert(stores, async (insert) => {
      steps.push('sent');
      await insert();
      if (steps.length === 1) throw new Transient('warehouse_unavailable', 'broken by the test');
    });
    const query = async <Row>(statement: Statement): Promise<Row[]> => {
      if (!statement.sql.includes('system.processes')) return await stores.warehouse.query<Row>(statement);
      steps.push('checked');
      return [{ running: steps.length < 4 ? '1' : '0' }] as Row[];
    };
    start(stores, { warehouse: { ...warehouse, query } });
    await appendSettled(stores, events(0, 10));
    expect(steps).toEqual(['sent', 'checked', 'checked', 'checked', 'sent']);
    expect(await stores.counted()).toEqual(exactly(10));
  });

  it('is left alone while another owner holds it', async () => {
    const stores = await openLoadStores();
    await stores.append(events(0, 10));
    await stores.pool.query(
      "INSERT INTO partition_leases VALUES ($1, 0, 'other', 7, now() + interval '1 hour')",
      [placeOf(stores).logId],
    );
    start(stores);
    const taken = await poll(async () => ((await ranges(stores)).length > 0 ? true : undefined), {
      timeoutMs: 300,
      everyMs: 20,
    });
    expect(taken).toBeUndefined();
  });
});

describe('a block of more months than ClickHouse takes at once', () => {
  /** Of 110 months, which are two pieces. */
  const wide = events(0, 110).map((event, ago) => ({ ...event, occurredAtMs: Date.UTC(2026, 10 - ago) }));

  // Red when it is one insert: code 252, and nothing is counted any more, for any customer.
  it('is counted once, also when it is cut off between two of its pieces', async () => {
    const stores = await openLoadStores();
    let inserts = 0;
    const cutOff = withInsert(stores, async (insert) => {
      inserts += 1;
      if (inserts === 2) throw new Transient('warehouse_unavailable', 'broken by the test');
      await insert();
    });
    start(stores, { warehouse: cutOff });
    await appendSettled(stores, wide);
    const counted = await stores.counted();
    // Rows that came twice are one event; a resumed range is sent again.
    expect({ ...counted, rows: 110 }).toEqual(exactly(110));
    expect(inserts).toBe(4);
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
  });

  it('is counted but for a line that cannot be read, which is quarantined', async () => {
    const stores = await startOnStores();
    const bad = { ...events(110, 111)[0], id: 'bad', line: '["half a line"]\n' };
    await appendSettled(stores, [...wide.slice(0, 100), bad, ...wide.slice(100)]);
    expect(await stores.counted()).toEqual(exactly(110));
    expect((await ranges(stores)).map(({ dropped }) => dropped)).toEqual([[100]]);
  });
});

describe('an event that is on the log twice', () => {
  it('is counted once, and an alarm reports it', async () => {
    const stores = await startOnStores();
    await appendSettled(stores, [...events(0, 10), ...events(5, 6)]);
    await appendSettled(stores, events(3, 15));
    expect(await stores.counted()).toEqual(exactly(15));
    expect((await ranges(stores)).map(({ dropped }) => dropped)).toEqual([[10], [0, 1, 2, 3, 4, 5, 6]]);
    expect(await alarms(stores)).toEqual(['event_twice']);
  });

  it('is known to the process that follows', async () => {
    const stores = await openLoadStores();
    const first = start(stores);
    await appendSettled(stores, events(0, 10));
    await first.close();
    start(stores);
    await appendSettled(stores, events(5, 12));
    expect(await stores.counted()).toEqual(exactly(12));
  });
});

function laterFrame({ writer }: LoadStores): Uint8Array[] {
  return [ofLaterVersion(frameOf(writer.logId, events(90, 91), 0))];
}

async function quarantined({ pool }: LoadStores): Promise<string[]> {
  const { rows } = await pool.query<{ body: Buffer }>('SELECT body FROM quarantine ORDER BY lo, line');
  return rows.map(({ body }) => body.toString());
}

async function owners({ pool }: LoadStores): Promise<unknown[]> {
  const { rows } = await pool.query('SELECT owner, epoch FROM partition_leases');
  return rows;
}
