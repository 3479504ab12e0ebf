import type { Pool } from 'pg';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import { Fatal } from '../../schemas/failures.ts';
import { decodeFrame } from '../../schemas/frame.ts';
import type { Place } from '../store/leases.ts';
import { rangeStarts, rangesWithDrops } from '../store/ranges.ts';
import type { LogSpan } from './logged-events.ts';

/** What the log still holds of what is loaded, which is everything before `to`. */
export async function findLogSpan(
  { pool, reader }: { pool: Pool; reader: EventLogReader },
  place: Place,
  to: number,
): Promise<LogSpan> {
  const drops = await rangesWithDrops(pool, place);
  if (await isHeld(reader, place.partition, 0)) return { from: 0, to, sinceMs: 0, drops };
  const from = await firstHeld(reader, place.partition, await rangeStarts(pool, place), to);
  const [first] = await reader.read(place.partition, from, 1);
  // Whatever was created after this frame was committed stands in it or behind it.
  const sinceMs = first ? decodeFrame(first.bytes).committedAtMs + 1 : Number.MAX_SAFE_INTEGER;
  return { from, to, sinceMs, drops };
}

/** Retention drops whole segments from the front, so what is held is everything from some start on. */
async function firstHeld(
  reader: EventLogReader,
  partition: number,
  starts: number[],
  to: number,
): Promise<number> {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await isHeld(reader, partition, starts[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return starts[low] ?? to;
}

async function isHeld(reader: EventLogReader, partition: number, position: number): Promise<boolean> {
  try {
    await reader.read(partition, position, 1);
    return true;
  } catch (error) {
    if (error instanceof Fatal && error.code === 'log_trimmed') return false;
    throw error;
  }
}
