import { CHANNELS } from '../../schemas/channels.ts';
import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/** A frozen stretch [lo, hi) of a partition: once it is written, what it loads never changes. */
export interface Range extends Place {
  lo: number;
  hi: number;
  epoch: number;
  eventCount: number;
  /** Numbers of the lines that are left out, ascending, counted from 0 over the whole range. */
  dropped: number[];
  /** Of all the range's bytes, the dropped ones included. */
  checksum: number;
  /** Everything acknowledged before this moment stands before `hi`. Milliseconds. */
  throughMs: number;
}

export interface UnsettledRange extends Range {
  state: 'pending' | 'loaded';
}

/**
 * Writes the range down if this epoch still holds the partition and the range begins where the last one
 * ended. False: somebody else holds it. The lease is locked meanwhile, so that no new owner can begin in
 * between.
 */
export async function freezeRange(db: Queryable, range: Range): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO log_ranges
       (log_id, partition, lo, hi, epoch, state, event_count, dropped, checksum, through_ms)
     SELECT log_id, partition, $4, $5, epoch, 'pending', $6, $7, $8, $9
     FROM partition_leases
     WHERE log_id = $1 AND partition = $2 AND epoch = $3 AND expires_at > now()
       AND $4 = coalesce(
         (SELECT hi FROM log_ranges WHERE log_id = $1 AND partition = $2 ORDER BY lo DESC LIMIT 1), 0)
     FOR SHARE OF partition_leases
     ON CONFLICT DO NOTHING`,
    [
      range.logId,
      range.partition,
      range.epoch,
      range.lo,
      range.hi,
      range.eventCount,
      range.dropped,
      range.checksum,
      range.throughMs,
    ],
  );
  return rowCount === 1;
}

/** Makes what an owner before left unsettled this epoch's, so that he can no longer mark it. In order. */
export async function takeOverRanges(
  db: Queryable,
  { logId, partition }: Place,
  epoch: number,
): Promise<UnsettledRange[]> {
  const { rows } = await db.query<UnsettledRange>(
    `UPDATE log_ranges SET epoch = $3
     WHERE log_id = $1 AND partition = $2 AND state <> 'settled'
       AND EXISTS (SELECT FROM partition_leases WHERE log_id = $1 AND partition = $2 AND epoch = $3)
     RETURNING log_id AS "logId", partition, lo, hi, epoch, state, event_count AS "eventCount", dropped,
               checksum, through_ms AS "throughMs"`,
    [logId, partition, epoch],
  );
  return rows.sort((a, b) => a.lo - b.lo);
}

/** Where the next range begins. */
export async function endOfRanges(db: Queryable, { logId, partition }: Place): Promise<number> {
  const { rows } = await db.query<{ hi: number }>(
    'SELECT hi FROM log_ranges WHERE log_id = $1 AND partition = $2 ORDER BY lo DESC LIMIT 1',
    [logId, partition],
  );
  return rows[0]?.hi ?? 0;
}

/** Adds to the lines that a pending range leaves out. False when it is no longer this epoch's. */
export async function dropLines(db: Queryable, range: Range, dropped: number[]): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE log_ranges SET dropped = $5
     WHERE log_id = $1 AND partition = $2 AND lo = $3 AND epoch = $4 AND state = 'pending'`,
    [range.logId, range.partition, range.lo, range.epoch, dropped],
  );
  return rowCount === 1;
}

/** Marks and tells it, both or neither. False when the range is no longer this epoch's. */
export async function markLoaded(db: Queryable, range: Range): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH marked AS (
       UPDATE log_ranges SET state = 'loaded'
       WHERE log_id = $1 AND partition = $2 AND lo = $3 AND epoch = $4 AND state = 'pending'
       RETURNING log_id, partition, hi, through_ms
     )
     SELECT pg_notify($5, json_build_object(
       'logId', log_id, 'partition', partition, 'hi', hi, 'throughMs', through_ms)::text)
     FROM marked`,
    [range.logId, range.partition, range.lo, range.epoch, CHANNELS.loaded],
  );
  return rowCount === 1;
}

/** False when the range is no longer this epoch's. */
export async function markSettled(db: Queryable, range: Range): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE log_ranges SET state = 'settled'
     WHERE log_id = $1 AND partition = $2 AND lo = $3 AND epoch = $4 AND state = 'loaded'`,
    [range.logId, range.partition, range.lo, range.epoch],
  );
  return rowCount === 1;
}

/**
 * Forgets old settled ranges. Never the last one, which holds the position, and never one with dropped lines:
 * an audit has to know them as long as the log holds the range.
 */
export async function pruneRanges(
  db: Queryable,
  { logId, partition }: Place,
  keepDays: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM log_ranges
     WHERE log_id = $1 AND partition = $2 AND state = 'settled' AND dropped = '{}'
       AND created_at < now() - $3 * interval '1 day'
       AND lo < (SELECT max(lo) FROM log_ranges WHERE log_id = $1 AND partition = $2)`,
    [logId, partition, keepDays],
  );
  return rowCount ?? 0;
}

/**
 * The moment after which about `events` events were committed; 0 when there are not that many. Milliseconds.
 */
export async function momentBefore(
  db: Queryable,
  { logId, partition }: Place,
  events: number,
): Promise<number> {
  const { rows } = await db.query<{ throughMs: number }>(
    `SELECT through_ms AS "throughMs"
     FROM (
       SELECT lo, through_ms, sum(event_count) OVER (ORDER BY lo DESC) AS events
       FROM log_ranges WHERE log_id = $1 AND partition = $2
       ORDER BY lo DESC LIMIT 1000
     ) AS latest
     WHERE events > $3 ORDER BY lo DESC LIMIT 1`,
    [logId, partition, events],
  );
  return rows[0]?.throughMs ?? 0;
}

/** The ranges that leave lines out, in order. */
export async function rangesWithDrops(
  db: Queryable,
  { logId, partition }: Place,
): Promise<Array<Pick<Range, 'lo' | 'hi' | 'dropped'>>> {
  const { rows } = await db.query<Pick<Range, 'lo' | 'hi' | 'dropped'>>(
    `SELECT lo, hi, dropped FROM log_ranges
     WHERE log_id = $1 AND partition = $2 AND dropped <> '{}' ORDER BY lo`,
    [logId, partition],
  );
  return rows;
}

/** Where ranges begin, in order: places at which a frame stands. */
export async function rangeStarts(db: Queryable, { logId, partition }: Place): Promise<number[]> {
  const { rows } = await db.query<{ lo: number }>(
    'SELECT lo FROM log_ranges WHERE log_id = $1 AND partition = $2 ORDER BY lo',
    [logId, partition],
  );
  return rows.map(({ lo }) => lo);
}
