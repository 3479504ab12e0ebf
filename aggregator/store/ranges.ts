import { CHANNELS } from '../../schemas/stored/channels.ts';
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
  /** Everything acknowledged before this time is before `hi`. Milliseconds. */
  throughMs: number;
}

export interface UnsettledRange extends Range {
  state: 'pending' | 'loaded';
}

/** The migration of ClickHouse up to whose tables a range is loaded: processes of earlier releases do not. */
const FILLED_TO = 5;

/**
 * Records the range if this epoch still holds the partition and the range begins where the last one ended.
 * False: another owner holds it. The lease is locked meanwhile, so that no new owner can begin in between.
 */
export async function freezeRange(db: Queryable, range: Range): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO log_ranges
       (log_id, partition, lo, hi, epoch, state, event_count, dropped, checksum, through_ms, filled_to)
     SELECT log_id, partition, $4, $5, epoch, 'pending', $6, $7, $8, $9, $10
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
      FILLED_TO,
    ],
  );
  return rowCount === 1;
}

/** Moves an earlier owner's unsettled ranges to this epoch, so that it can no longer mark them. In order. */
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

/** Marks and notifies, both or neither. False when the range is no longer this epoch's. */
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
 * Forgets settled ranges of what the log has given up, the oldest first, at most `rowsMax`. The newest `keep`
 * stay whatever happens: the last one is the position, and a start learns from them what was loaded last.
 */
export async function pruneRanges(
  db: Queryable,
  { logId, partition }: Place,
  { keep, rowsMax }: { keep: number; rowsMax: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM log_ranges WHERE ctid IN (
       SELECT ctid FROM log_ranges
       WHERE log_id = $1 AND partition = $2 AND state = 'settled'
         AND hi <= (SELECT kept_from FROM log_trims WHERE log_id = $1 AND partition = $2)
         AND lo <= (SELECT lo FROM log_ranges WHERE log_id = $1 AND partition = $2
                    ORDER BY lo DESC OFFSET $3 LIMIT 1)
       ORDER BY lo LIMIT $4)`,
    [logId, partition, keep, rowsMax],
  );
  return rowCount ?? 0;
}

/** How many of the latest ranges are read to find what was loaded last. */
export const LATEST_RANGES = 1_000;

/** What was loaded last, the newest first. */
export async function latestRanges(
  db: Queryable,
  { logId, partition }: Place,
): Promise<Array<Pick<Range, 'lo' | 'eventCount' | 'throughMs'>>> {
  const { rows } = await db.query<Pick<Range, 'lo' | 'eventCount' | 'throughMs'>>(
    `SELECT lo, event_count AS "eventCount", through_ms AS "throughMs" FROM log_ranges
     WHERE log_id = $1 AND partition = $2 ORDER BY lo DESC LIMIT $3`,
    [logId, partition, LATEST_RANGES],
  );
  return rows;
}

/** The ranges that leave lines out and end behind this position, in order. */
export async function rangesWithDrops(
  db: Queryable,
  { logId, partition }: Place,
  from: number,
): Promise<Array<Pick<Range, 'lo' | 'hi' | 'dropped'>>> {
  const { rows } = await db.query<Pick<Range, 'lo' | 'hi' | 'dropped'>>(
    `SELECT lo, hi, dropped FROM log_ranges
     WHERE log_id = $1 AND partition = $2 AND hi > $3 AND dropped <> '{}' ORDER BY lo`,
    [logId, partition, from],
  );
  return rows;
}

/** Where the first range begins from this position on; undefined when none does. */
export async function firstRangeFrom(
  db: Queryable,
  { logId, partition }: Place,
  position: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ lo: number }>(
    `SELECT lo FROM log_ranges WHERE log_id = $1 AND partition = $2 AND lo >= $3 ORDER BY lo LIMIT 1`,
    [logId, partition, position],
  );
  return rows[0]?.lo;
}

/** Everything before this position is settled; 0 when nothing is. */
export async function settledUpTo(db: Queryable, { logId, partition }: Place): Promise<number> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT coalesce(
       (SELECT lo FROM log_ranges WHERE log_id = $1 AND partition = $2 AND state <> 'settled'
        ORDER BY lo LIMIT 1),
       (SELECT hi FROM log_ranges WHERE log_id = $1 AND partition = $2 ORDER BY lo DESC LIMIT 1),
       0) AS position`,
    [logId, partition],
  );
  return rows[0]?.position ?? 0;
}

/**
 * When the last event of other logs was committed, or of this partition before a position: of the whole range
 * that begins at the position. Undefined when there is none. Milliseconds.
 */
export async function committedUpTo(
  db: Queryable,
  { logId, partition }: Place,
  position: number | undefined,
): Promise<number | undefined> {
  const { rows } = await db.query<{ throughMs: number | null }>(
    `SELECT max(through_ms) AS "throughMs" FROM (
       SELECT through_ms FROM log_ranges WHERE log_id <> $1 OR (partition = $2 AND lo <= $3::bigint)
       UNION ALL SELECT through_ms FROM log_trims WHERE log_id <> $1 AND through_ms > 0) AS gone`,
    [logId, partition, position ?? null],
  );
  return rows[0]?.throughMs ?? undefined;
}

/** Of all partitions of a log: another text once there is more. */
export async function rangeEnds(db: Queryable, logId: string): Promise<string> {
  const { rows } = await db.query<{ ends: string | null }>(
    `SELECT string_agg(partition || ' ' || hi, ',' ORDER BY partition) AS ends
     FROM partition_leases AS leases CROSS JOIN LATERAL (
       SELECT hi FROM log_ranges
       WHERE log_id = leases.log_id AND partition = leases.partition ORDER BY lo DESC LIMIT 1) AS last
     WHERE log_id = $1`,
    [logId],
  );
  return rows[0]?.ends ?? '';
}
