import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { NEAR_RETENTION } from '../../schemas/alarm-codes.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { readLoadedPartitions } from '../store/loaded-position.ts';
import { clearLogAlarms, raiseLogAlarm } from '../store/log-alarms.ts';

export interface LogWatchDeps {
  pool: Pool;
  logReader: EventLogReader;
  /** How long the log keeps its records, read or not; undefined: forever. */
  keepsMs: () => Promise<number | undefined>;
  clock: Clock;
  log: Logger;
  metrics: LogWatchMetrics;
}

export interface LogWatchMetrics {
  /** The age of the oldest event that is not loaded, and the log's retention time. */
  watched(ages: { oldestMs: number; keepsMs: number }): undefined;
}

export interface LogWatchOptions {
  owner?: string;
  everyMs?: number;
}

export const LOG_WATCH = { job: 'log-watch', everyMs: 30_000 };

/** Longer than the interval between two checks, so that the owner keeps the lease. */
const LEASE_MS = 60_000;
/** The part of the retention after which the watch warns. The rest is time for the operator. */
const PART_NOTIFIED = 0.5;
const HOUR_MS = 3_600_000;
/** A read returns one frame of any size. */
const READ_BYTES = 1;
/** Foreign records before the first of ours. */
const PASSED_MAX = 100;

/**
 * A log with a retention time deletes its oldest records whether they were loaded or not. The watch warns in
 * time, also when no aggregator is running that could: `partitions` of readyz names the alarm until it is
 * over.
 */
export function startLogWatch(deps: LogWatchDeps, options: LogWatchOptions = {}): LeasedJob {
  const { pool, logReader, keepsMs: readKeepsMs, metrics } = deps;
  const logId = Buffer.from(logReader.logId).toString('hex');

  async function look(turn: JobTurn): Promise<undefined> {
    if ((await turn.hold()) === undefined) return metrics.watched({ oldestMs: 0, keepsMs: 0 });
    const keepsMs = await readKeepsMs();
    if (keepsMs === undefined) return clearLogAlarms(pool, { logId, code: NEAR_RETENTION, except: [] });
    const ages = await agesOf(deps, logId);
    metrics.watched({ oldestMs: Math.max(0, ...ages), keepsMs });
    const late = ages.flatMap((ageMs, partition) => (ageMs >= keepsMs * PART_NOTIFIED ? [partition] : []));
    for (const partition of late)
      await notify(deps, { logId, partition, ageMs: ages[partition] ?? 0, keepsMs });
    await clearLogAlarms(pool, { logId, code: NEAR_RETENTION, except: late });
  }

  return startLeasedJob(deps, { ...LOG_WATCH, leaseMs: LEASE_MS, ...options, look });
}

interface Late {
  logId: string;
  partition: number;
  ageMs: number;
  keepsMs: number;
}

async function notify(
  { pool, log }: LogWatchDeps,
  { logId, partition, ageMs, keepsMs }: Late,
): Promise<void> {
  const [waited, kept] = [ageMs, keepsMs].map((ms) => (ms / HOUR_MS).toFixed(1));
  const message = `events wait for ${waited} h to be loaded; the log deletes them after ${kept} h`;
  const isNew = await raiseLogAlarm(pool, { logId, partition, code: NEAR_RETENTION, message });
  if (isNew) log.error({ code: NEAR_RETENTION, partition, ageMs, keepsMs }, message);
}

/** By partition: how long its oldest event has waited to be loaded; 0 where none does. */
async function agesOf({ pool, logReader, clock }: LogWatchDeps, logId: string): Promise<number[]> {
  const loaded = new Map((await readLoadedPartitions(pool, logId)).map((one) => [one.partition, one.hi]));
  const ends = await logReader.durableEnds();
  const ages: number[] = [];
  for (const [partition, end] of ends.entries()) {
    const sinceMs = await committedAt(logReader, partition, { from: loaded.get(partition) ?? 0, to: end });
    ages.push(sinceMs === undefined ? 0 : Math.max(0, clock.nowMs() - sinceMs));
  }
  return ages;
}

/** When the first frame of a range was written; undefined where there is none. */
async function committedAt(
  reader: EventLogReader,
  partition: number,
  { from, to }: { from: number; to: number },
): Promise<number | undefined> {
  // Records that are already deleted are reported by the load, which pauses before them.
  let at = Math.max(from, await reader.start(partition));
  for (let passed = 0; at < to && passed < PASSED_MAX; passed++) {
    const [frame] = await reader.read(partition, at, READ_BYTES);
    if (!frame) return undefined;
    if (frame.bytes.length > 0 && frame.foreign === undefined) return decodeFrame(frame.bytes).committedAtMs;
    at = frame.next;
  }
  return undefined;
}
