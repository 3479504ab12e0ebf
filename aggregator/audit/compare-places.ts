import { crc32 } from 'node:zlib';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Lease } from '../lease.ts';
import { addTo, type Difference, differencesOf, type HourSums } from './hour-sums.ts';
import { findLogSpans, type LogSpanDeps } from './log-span.ts';
import { type LogSpan, loggedEvents } from './logged-events.ts';
import { countHours, eventSums, rollupSums, type Slice } from './stored-sums.ts';

export interface AuditDeps extends LogSpanDeps {
  warehouse: Warehouse;
  /**
   * Hours before this moment are left alone, milliseconds: what is there of them is not compared. 0: all is
   * kept.
   */
  keptFromMs: () => number;
}

/** A partition between two loads: nothing is pending, everything before the position is loaded. */
export interface Standing {
  lease: Lease;
  position: number;
}

/** Runs work while all partitions of the log stand still. */
export type Hold = <T>(work: (standings: Standing[]) => Promise<T>) => Promise<T>;

export interface Comparison {
  hours: number;
  differences: Difference[];
}

/** What is found beyond this is found again by the next audit. */
const DIFFERENCES_MAX = 10_000;
/** Hours whose sums are held in memory at once: about 200 MB. */
const HOURS_MAX = 200_000;

/**
 * Compares, hour by hour: the hourly sums with the stored events, and the stored events with the log as far
 * as the log goes back. The load stands still only while the warehouse is asked; what the log holds up to
 * there never changes and is read afterwards.
 */
export async function comparePlaces(deps: AuditDeps, hold: Hold, hoursMax = HOURS_MAX): Promise<Comparison> {
  const of = Math.max(1, Math.ceil((await countHours(deps.warehouse)) / hoursMax));
  const all: Comparison = { hours: 0, differences: [] };
  for (let number = 0; number < of; number++) {
    const part = await compareSlice(deps, hold, { number, of });
    all.hours += part.hours;
    all.differences = all.differences.concat(part.differences).slice(0, DIFFERENCES_MAX);
  }
  return all;
}

async function compareSlice(deps: AuditDeps, hold: Hold, slice: Slice): Promise<Comparison> {
  const { warehouse } = deps;
  const hoursFromMs = deps.keptFromMs();
  const { spans, rollup, stored, storedSince } = await hold(async (standings) => {
    const spans = await findLogSpans(deps, standings);
    const sinceMs = spans[0]?.sinceMs ?? 0;
    const stored = await eventSums(warehouse, slice, { hoursFromMs, sinceMs: 0 });
    const rollup = await rollupSums(warehouse, slice, hoursFromMs);
    const storedSince = sinceMs === 0 ? stored : await eventSums(warehouse, slice, { hoursFromMs, sinceMs });
    return { spans, stored, rollup, storedSince };
  });
  const logged = await logSums(deps.reader, { spans, hoursFromMs }, slice);
  return {
    hours: stored.size,
    differences: [...differencesOf('rollup', stored, rollup), ...differencesOf('log', logged, storedSince)],
  };
}

async function logSums(
  reader: AuditDeps['reader'],
  { spans, hoursFromMs }: { spans: LogSpan[]; hoursFromMs: number },
  { number, of }: Slice,
): Promise<HourSums> {
  const sums: HourSums = new Map();
  for (const span of spans) {
    for await (const events of loggedEvents(reader, span)) {
      for (const { key, customerId, value, hourMs } of events) {
        if (hourMs < hoursFromMs) continue;
        // The same hash as in the warehouse's statements.
        if (of === 1 || crc32(customerId) % of === number) addTo(sums, key, value, 1);
      }
    }
  }
  return sums;
}
