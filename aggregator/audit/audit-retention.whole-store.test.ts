import { describe, expect, it } from 'vitest';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { eventLines, TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { eventId } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import {
  appendSettled,
  deleteEvent,
  events,
  exactly,
  placeOf,
  settledUpTo,
  start,
} from '../aggregator-under-test.ts';
import { audit } from './audit-under-test.ts';
import { findLogSpan } from './log-span.ts';
import { AUDIT_EXIT } from './request-audit.ts';

describe('what an audit expects of the log', () => {
  // Red when `kept_from` is not checked: a segment may be deleted before it is read.
  it('begins with the first whole range that is kept, and what was created after all before it', async () => {
    const { stores, ends } = await loaded();
    const place = placeOf(stores);
    const audited = { ...stores, isDistributed: false };
    const end = ends.at(-1) ?? 0;
    expect(await findLogSpan(audited, place, end)).toMatchObject({ from: 0, to: end, sinceMs: 0 });
    await keepFrom(stores, (ends[1] ?? 0) + 1, 0);
    const committedAtMs = TEST_NOW_MS + 3_500;
    const span = { from: ends[2], to: end, sinceMs: committedAtMs + 1 };
    expect(await findLogSpan(audited, place, end)).toMatchObject(span);
    await keepFrom(stores, (ends[1] ?? 0) + 1, committedAtMs + 70);
    expect(await findLogSpan(audited, place, end)).toMatchObject({ ...span, sinceMs: committedAtMs + 71 });
    await keepFrom(stores, end, 0);
    expect(await findLogSpan(audited, place, end)).toMatchObject({ from: end, to: end });
    expect((await audit(stores)).code).toBe(AUDIT_EXIT.same);
  });

  it('is read again when a segment is deleted meanwhile', async () => {
    let gone = 0;
    const { stores } = await loaded(({ reader }) => ({
      reader: {
        ...reader,
        read: (...requested) => {
          if (gone !== 1) return reader.read(...requested);
          gone++;
          return Promise.reject(new Fatal('log_trimmed', 'It is deleted.'));
        },
      },
    }));
    gone = 1;
    expect((await audit(stores)).code).toBe(AUDIT_EXIT.same);
    expect(gone).toBe(2);
  });
});

describe('a repair', () => {
  // Red when the log is not held, or released whatever the repair's outcome: events that were deleted and not
  // put back would be nowhere once their segments are deleted.
  it('holds the log until every event of it was found', async () => {
    let fails = true;
    const { stores } = await loaded(({ warehouse }) => ({
      warehouse: {
        ...warehouse,
        insertEvents: (block) => {
          if (!fails || !block.token.startsWith('repair-')) return warehouse.insertEvents(block);
          return Promise.reject(new Fatal('warehouse_newer', 'The insert is rejected.'));
        },
      },
    }));
    await deleteEvent(stores, 7);
    expect(await trimHolder(stores)).toBeNull();
    expect((await audit(stores, { repair: true })).code).toBe(AUDIT_EXIT.impossible);
    expect(await trimHolder(stores)).toEqual(expect.stringMatching(/^[0-9a-f-]{36}$/));
    expect((await stores.counted()).rows).toBeLessThan(99);
    expect((await audit(stores)).code).toBe(AUDIT_EXIT.different);
    expect(await trimHolder(stores)).not.toBeNull();
    fails = false;
    expect((await audit(stores, { repair: true })).code).toBe(AUDIT_EXIT.same);
    expect(await trimHolder(stores)).toBeNull();
    expect(await stores.counted()).toEqual(exactly(100));
  });
});

// Red when what is put back again is taken for a retry of what was put back before, and deleted since.
it('a repair that fails between two inserts and is tried again puts all of it back', async () => {
  const stores = await openLoadStores();
  let inserts = 0;
  start(stores, {
    warehouse: {
      ...stores.warehouse,
      insertEvents: (block) => {
        if (block.token.startsWith('repair-')) inserts += 1;
        if (inserts !== 2) return stores.warehouse.insertEvents(block);
        inserts += 1;
        return Promise.reject(new Transient('warehouse_unavailable', 'It is temporarily unavailable.'));
      },
    },
  });
  // In one hour, and more than are put back at once; the log no longer holds all of what was before.
  const place = { customerId: 'cus_1', occurredAtMs: TEST_NOW_MS };
  const some = events(0, 25_000).map((event) => ({ ...event, ...place }));
  const before = (from: number, createdAtMs: number) =>
    stores.append(
      some.slice(from, from + 10).map((event) => ({ ...event, createdAtMs })),
      createdAtMs + 500,
    );
  const gone = await before(0, TEST_NOW_MS - 10_000);
  await settledUpTo(stores, gone);
  await settledUpTo(stores, await before(10, TEST_NOW_MS - 5_000));
  await appendSettled(stores, some.slice(20));
  await beginTrims(stores);
  await keepFrom(stores, gone, TEST_NOW_MS - 9_000);
  await deleteEvent(stores, 77);
  await audit(stores, { repair: true });
  expect(await stores.counted()).toEqual(exactly(25_000));
  expect(inserts).toBeGreaterThan(3);
});

/** As the data plane does it with every whole segment. */
const GIVE_UP_ALL = `UPDATE log_trims SET kept_from = (SELECT max(hi) FROM log_ranges)
  WHERE held_by IS NULL RETURNING kept_from`;

// Red when the log is held only for what is put back: a segment is deleted while it is compared.
it('gives up nothing of the log that a repair has looked at', async () => {
  const raised: unknown[] = [];
  let looks = 0;
  const { stores } = await loaded(({ pool, reader }) => ({
    reader: {
      ...reader,
      read: async (...requested) => {
        const repairing = "SELECT FROM audit_runs WHERE repair AND state = 'running'";
        // The load is beyond the beginning: the comparison reads here.
        const isRepair = requested[1] === 0 && (await pool.query(repairing)).rows.length > 0;
        if (isRepair) raised.push(...(await pool.query(GIVE_UP_ALL)).rows);
        if (isRepair) looks += 1;
        return await reader.read(...requested);
      },
    },
  }));
  await deleteEvent(stores, 7);
  expect((await audit(stores, { repair: true })).code).toBe(AUDIT_EXIT.same);
  expect(looks).toBeGreaterThan(0);
  expect(raised).toEqual([]);
  expect(await trimHolder(stores)).toBeNull();
  expect(await stores.counted()).toEqual(exactly(100));
});

describe('what is stored and no longer on the log', () => {
  // Red when sums are made of what is left of it: that was the last right copy.
  it('is still counted where a repair finds it lost, and what the log has is put back', async () => {
    const { stores, ends } = await loaded();
    await keepFrom(stores, (ends[1] ?? 0) + 1, 0);
    for (const number of [3, 85]) await deleteEvent(stores, number);
    expect(await kinds(stores)).toEqual(['log', 'rollup', 'lost']);
    expect((await audit(stores, { repair: true })).code).toBe(AUDIT_EXIT.different);
    const { rows, hourlyEvents, hourlyTotal } = await stores.counted();
    const { hourlyTotal: total } = exactly(100);
    expect({ rows, hourlyEvents, hourlyTotal }).toEqual({ rows: 99, hourlyEvents: 100, hourlyTotal: total });
    expect(await kinds(stores)).toEqual(['lost']);
    expect(await trimHolder(stores)).toBeNull();
  });

  // Red when an audit expects it on the log that is used now: a repair deletes it all.
  it('is left alone where it came by another log', async () => {
    const { stores } = await loaded();
    const id = eventId('of the log before');
    const lines = eventLines([{ id, createdAtMs: TEST_NOW_MS - 3_600_001, occurredAtMs: TEST_NOW_MS }]);
    await stores.warehouse.insertEvents({ token: 'before', lines, timeoutMs: 5_000 });
    await stores.pool.query(
      "INSERT INTO log_trims (log_id, partition, kept_from, through_ms) VALUES ('before', 0, 100, $1)",
      [TEST_NOW_MS - 3_600_000],
    );
    expect((await audit(stores, { repair: true })).code).toBe(AUDIT_EXIT.same);
    expect(await stores.counted()).toMatchObject({ rows: 101, hourlyEvents: 101 });
  });
});

// Red when a failed repair is forgotten as well: strong reads would use what it left half made.
it('audits that ended a month ago are forgotten, but for the last repair if it failed', async () => {
  const stores = await openLoadStores();
  await stores.pool.query(
    `INSERT INTO audit_runs (id, repair, state, finished_at) VALUES
       ('old', false, 'done', now() - interval '31 days'),
       ('failed and done later', true, 'failed', now() - interval '34 days'),
       ('done', true, 'done', now() - interval '33 days'),
       ('failed for good', true, 'failed', now() - interval '32 days'),
       ('recent', false, 'failed', now() - interval '29 days')`,
  );
  start(stores);
  expect((await audit(stores)).code).toBe(AUDIT_EXIT.same);
  const { rows } = await stores.pool.query("SELECT id FROM audit_runs WHERE id !~ '-' ORDER BY finished_at");
  expect(rows).toEqual([{ id: 'failed for good' }, { id: 'recent' }]);
});

// Red when a repair ends with the comparison before it: trim-log.ts asks the operator to run a repair.
it('a repair releases a log that an earlier repair kept, with nothing left to repair', async () => {
  const { stores } = await loaded();
  await stores.pool.query("UPDATE log_trims SET held_by = 'one that failed'");
  expect((await audit(stores, { repair: false })).code).toBe(0);
  expect(await trimHolder(stores)).toBe('one that failed');
  expect((await audit(stores, { repair: true })).code).toBe(0);
  expect(await trimHolder(stores)).toBeNull();
});

/** A hundred events in five ranges; the nth is committed 500 ms after its events were created. */
async function loaded(
  faults: (stores: LoadStores) => Parameters<typeof start>[1] = () => ({}),
): Promise<{ stores: LoadStores; ends: number[] }> {
  const stores = await openLoadStores({ segmentBytesMax: 4_000 });
  start(stores, faults(stores));
  const ends: number[] = [];
  for (let at = 0; at < 5; at++) {
    const createdAtMs = TEST_NOW_MS + at * 1_000;
    const some = events(at * 20, at * 20 + 20).map((event) => ({ ...event, createdAtMs }));
    ends.push(await appendSettled(stores, some, createdAtMs + 500));
  }
  await beginTrims(stores);
  return { stores, ends };
}

async function beginTrims(stores: LoadStores): Promise<void> {
  const values = [placeOf(stores).logId];
  await stores.pool.query('INSERT INTO log_trims (log_id, partition) VALUES ($1, 0)', values);
}

async function keepFrom({ pool }: LoadStores, position: number, throughMs: number): Promise<void> {
  await pool.query('UPDATE log_trims SET kept_from = $1, through_ms = $2', [position, throughMs]);
}

async function trimHolder({ pool }: LoadStores): Promise<unknown> {
  return (await pool.query('SELECT held_by FROM log_trims')).rows[0].held_by;
}

/** Of what an audit finds; in the order in which it is repaired. */
async function kinds(stores: LoadStores): Promise<string[]> {
  return (await audit(stores)).differences.map(({ kind }) => kind);
}
