import type { Pool } from 'pg';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { decodeFrame } from '../../schemas/frame.ts';
import type { Place } from '../store/leases.ts';
import { readLogTrim } from '../store/log-trims.ts';
import { firstRangeFrom, rangesWithDrops } from '../store/ranges.ts';
import type { LogSpan } from './logged-events.ts';

/** Later than any event, and still a moment for ClickHouse. */
const NEVER_MS = Date.UTC(2200, 0);

/** What the log still holds of what is loaded, which is everything before `to`. */
export async function findLogSpan(
  { pool, reader }: { pool: Pool; reader: EventLogReader },
  place: Place,
  to: number,
): Promise<LogSpan> {
  const { keptFrom, throughMs } = await readLogTrim(pool, place);
  const start = Math.max(keptFrom, await reader.start(place.partition));
  // Dropped lines are counted from the beginning of their range: half a range cannot be judged.
  const from = start === 0 ? 0 : Math.min(to, (await firstRangeFrom(pool, place, start)) ?? to);
  const drops = await rangesWithDrops(pool, place, from);
  if (start === 0) return { from, to, sinceMs: 0, drops };
  if (from === to) return { from, to, sinceMs: NEVER_MS, drops };
  const [first] = await reader.read(place.partition, from, 1);
  const committedAtMs = first ? decodeFrame(first.bytes).committedAtMs : NEVER_MS;
  // Whatever was created after this frame was committed stands in it or behind it; and whatever was created
  // after everything before it was, should the clock have gone back in between.
  return { from, to, sinceMs: Math.max(committedAtMs, throughMs) + 1, drops };
}
