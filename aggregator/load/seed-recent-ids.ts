import type { Pool } from 'pg';
import type { Clock } from '../../infra/ports/clock.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import type { Place } from '../store/leases.ts';
import { latestRanges } from '../store/ranges.ts';
import { addFrame, emptyBlock } from './block.ts';
import { createRecentIds, type RecentIds } from './recent-ids.ts';

export interface SeedOptions {
  /** Ids that are kept per generation. */
  generationMax: number;
  /** What was loaded last is read again: at most so many events, */
  seedMax: number;
  /** and committed within so long. */
  seedMs: number;
}

interface SeedDeps {
  pool: Pool;
  reader: EventLogReader;
  clock: Clock;
}

const READ_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Reads the events before `position`, so that a new owner of the partition knows the ids that the previous
 * owner knew. Reads them from the log, since the event times of taken-over events can be any.
 */
export async function seedRecentIds(
  { pool, reader, clock }: SeedDeps,
  { logId, partition }: Place,
  position: number,
  { generationMax, seedMax, seedMs }: SeedOptions,
): Promise<RecentIds> {
  const start = await reader.start(partition);
  const ranges = await latestRanges(pool, { logId, partition });
  const sinceMs = Math.max(...ranges.map(({ throughMs }) => throughMs)) - seedMs;
  let events = 0;
  const left = ranges.findIndex((range) => {
    events += range.eventCount;
    return range.lo < start || range.throughMs < sinceMs || events > seedMax;
  });
  const [again, forgotten] = left < 0 ? [ranges, []] : [ranges.slice(0, left), ranges.slice(left)];
  const forgottenMs = Math.max(...forgotten.map(({ throughMs }) => throughMs));
  // mutant: seen-by-others-taken-for-unseen
  const recentIds = createRecentIds(generationMax, Math.min(forgottenMs, clock.nowMs()));
  for (let at = again.at(-1)?.lo ?? position; at < position; ) {
    const block = emptyBlock(at);
    for (const frame of await reader.read(partition, at, READ_BYTES_MAX)) {
      if (block.hi < position) addFrame(block, frame, reader.logId);
    }
    if (block.hi === at) break;
    recentIds.filter(block, clock.nowMs());
    at = block.hi;
  }
  return recentIds;
}
