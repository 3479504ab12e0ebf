import type { Pool } from 'pg';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import type { Place } from '../store/leases.ts';
import { readLogTrim } from '../store/log-trims.ts';
import { committedUpTo, firstRangeFrom, rangesWithDrops } from '../store/ranges.ts';
import type { LogSpan } from './logged-frames.ts';

export interface LogSpanDeps {
  pool: Pool;
  reader: EventLogReader;
  /** Several processes write the log, each by its own clock, and it gives up what is old by itself. */
  isDistributed: boolean;
}

/** Later than any event, and still a time that ClickHouse accepts. */
const NEVER_MS = Date.UTC(2200, 0);
/** Clocks of ingest processes do not differ by more, and no event waits as long for its frame. */
const CLOCKS_MS = 15 * 60_000;

/** What the log still holds of what is loaded of this partition, which is everything before `to`. */
export async function findLogSpan(deps: LogSpanDeps, place: Place, to: number): Promise<LogSpan> {
  const { pool, reader, isDistributed } = deps;
  const { partition } = place;
  const { keptFrom, throughMs } = await readLogTrim(pool, place);
  const start = Math.max(keptFrom, await reader.start(partition));
  // Dropped lines are counted from the beginning of their range: half a range cannot be judged.
  const from = start === 0 ? 0 : Math.min(to, (await firstRangeFrom(pool, place, start)) ?? to);
  const span = { partition, from, to, drops: await rangesWithDrops(pool, place, from) };
  if (isDistributed) {
    const trimmedMs = await committedUpTo(pool, place, start === 0 ? undefined : from);
    return { ...span, sinceMs: trimmedMs === undefined ? 0 : trimmedMs + CLOCKS_MS };
  }
  // A log of this folder that was lost, or one that others shared: what came by it is not on this one.
  const othersMs = await committedUpTo(pool, place, undefined);
  // mutant: other-logs-not-thought-of
  const afterMs = othersMs === undefined ? 0 : othersMs + CLOCKS_MS;
  if (start === 0) return { ...span, sinceMs: afterMs };
  if (from === to) return { ...span, sinceMs: NEVER_MS };
  const [first] = await reader.read(partition, from, 1);
  const committedAtMs = first ? decodeFrame(first.bytes).committedAtMs : NEVER_MS;
  // An event that was created after the commit of this frame is in this frame or a later one. The clock may
  // have gone back in between, so this is the earliest creation time of the frames from here on.
  return { ...span, sinceMs: Math.max(committedAtMs + 1, throughMs + 1, afterMs) };
}

/** Of all partitions. One event may be in any of them: what is left out of one is left out of all. */
export async function findLogSpans(deps: LogSpanDeps, paused: PausedPlace[]): Promise<LogSpan[]> {
  const spans: LogSpan[] = [];
  for (const { lease, position } of paused) spans.push(await findLogSpan(deps, lease, position));
  const sinceMs = Math.max(...spans.map((span) => span.sinceMs));
  return spans.map((span) => ({ ...span, sinceMs }));
}

interface PausedPlace {
  lease: Place;
  position: number;
}
