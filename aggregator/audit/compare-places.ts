import { crc32 } from 'node:zlib';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { readTimes } from '../../schemas/stored/record.ts';
import { valuesOf } from '../../schemas/stored/row-lines.ts';
import type { PausedPartition } from '../load/load-state.ts';
import {
  addTo,
  allOf,
  type Difference,
  differencesOf,
  type HourSums,
  hourOf,
  keyOf,
  keyText,
} from './hour-sums.ts';
import { findLogSpans, type LogSpanDeps } from './log-span.ts';
import { type LoggedFrame, type LogSpan, loggedFrames } from './logged-frames.ts';
import {
  countHours,
  differentByProperty,
  eventSums,
  type HourDifferences,
  hasVoidedEvents,
  rollupSums,
  type Slice,
} from './stored-sums.ts';

export interface AuditDeps extends LogSpanDeps {
  warehouse: Warehouse;
  /** Hours before this time are not compared. Milliseconds; 0: all hours are compared. */
  keptFromMs: () => number;
  /** The most by which an event's time may be ahead of the time at which it was stored. */
  eventAheadMsMax: number;
  limits?: Partial<AuditLimits>;
}

export interface AuditLimits {
  /** Hours whose sums are held in memory at once: 200,000 are about 200 MB. */
  hoursMax: number;
  /** Of what can be repaired; what is found beyond this is found again by the next comparison. */
  differencesMax: number;
  /** Of what cannot. */
  lostMax: number;
}

const LIMITS: AuditLimits = { hoursMax: 200_000, differencesMax: 10_000, lostMax: 1_000 };

/** Runs work while all partitions of the log are paused. */
export type Hold = <T>(work: (paused: PausedPartition[]) => Promise<T>) => Promise<T>;

export interface Comparison {
  hours: number;
  /**
   * What a repair can put right. For each customer, missing stored events come before sums: sums are made of
   * stored events.
   */
  differences: Difference[];
  /** What is left as it is: to make these sums of the stored events would take away what was counted. */
  lost: Difference[];
  /** All that a repair can put right, also beyond the limit, and what of it is about stored events. */
  wrong: { all: number; events: number };
}

/**
 * Compares, hour by hour, the hourly sums with the stored events, and the stored events with the log as far
 * as the log goes back. The load is paused only during the warehouse queries. The log up to that position
 * never changes and is read afterwards.
 */
export async function comparePlaces(deps: AuditDeps, hold: Hold): Promise<Comparison> {
  const { hoursMax, differencesMax, lostMax } = { ...LIMITS, ...deps.limits };
  const of = Math.max(1, Math.ceil((await countHours(deps.warehouse)) / hoursMax));
  const all: Comparison = { hours: 0, differences: [], lost: [], wrong: { all: 0, events: 0 } };
  for (let number = 0; number < of; number++) {
    const { hours, log, rollup, lost } = await compareSlice(deps, hold, { number, of });
    all.hours += hours;
    all.wrong.all += log.length + rollup.length;
    all.wrong.events += log.length;
    all.differences = [...all.differences, ...log, ...rollup].slice(0, differencesMax);
    all.lost = [...all.lost, ...lost].slice(0, lostMax);
  }
  return all;
}

interface SliceComparison extends Record<Difference['kind'], Difference[]> {
  hours: number;
}

async function compareSlice(deps: AuditDeps, hold: Hold, slice: Slice): Promise<SliceComparison> {
  const { warehouse, eventAheadMsMax } = deps;
  const hoursFromMs = deps.keptFromMs();
  const { spans, sinceMs, rollup, stored, storedSince, byProperty } = await hold(async (paused) => {
    const spans = await findLogSpans(deps, paused);
    const sinceMs = spans[0]?.sinceMs ?? 0;
    const counted = { hoursFromMs, sinceMs: 0, voided: 'subtracted' } as const;
    const stored = await eventSums(warehouse, slice, counted);
    const rollup = await rollupSums(warehouse, slice, hoursFromMs);
    const limit = deps.limits?.differencesMax ?? LIMITS.differencesMax;
    const byProperty = await differentByProperty(warehouse, slice, { hoursFromMs, limit });
    // The log has a record of each void as well.
    const isStored = sinceMs === 0 && !(await hasVoidedEvents(warehouse));
    const onLog = { hoursFromMs, sinceMs, voided: 'counted' } as const;
    const storedSince = isStored ? stored : await eventSums(warehouse, slice, onLog);
    return { spans, sinceMs, stored, rollup, storedSince, byProperty };
  });
  const logged = await logSums(deps.reader, { spans, hoursFromMs }, slice);
  const wholeFromMs = sinceMs === 0 ? 0 : sinceMs + eventAheadMsMax;
  const eventsOf = (sums: HourSums, key: string): number => sums.get(key)?.events ?? 0;
  /**
   * Of an hour that begins later everything is on the log; of one before, more may be deleted than it has.
   */
  const isLost = (key: string): boolean => {
    // mutant: lost-events-taken-from-the-count
    if (keyOf(key).hour * 1_000 >= wholeFromMs) return false;
    const missing = Math.max(0, eventsOf(logged, key) - eventsOf(storedSince, key));
    return eventsOf(stored, key) + missing < eventsOf(rollup, key);
  };
  const isKnown = (key: string): boolean => !isLost(key);
  const hours = differencesOf('rollup', stored, rollup, isKnown);
  return {
    hours: stored.size,
    log: differencesOf('log', logged, storedSince, isKnown),
    rollup: [...hours, ...differentRows(byProperty, { hours, isKnown })],
    lost: differencesOf('lost', stored, rollup, isLost),
  };
}

/** A repair of an hour is one of its rows by property: those that differ anyway are not named twice. */
function differentRows(
  { expected, found }: HourDifferences,
  { hours, isKnown }: { hours: Difference[]; isKnown: (key: string) => boolean },
): Difference[] {
  const named = new Set(
    hours.map(({ hour, ...names }) => keyText({ ...names, hour: Date.parse(hour) / 1_000 })),
  );
  return allOf('rollup', { expected, found }, (key) => isKnown(key) && !named.has(key));
}

async function logSums(
  reader: AuditDeps['reader'],
  { spans, hoursFromMs }: { spans: LogSpan[]; hoursFromMs: number },
  slice: Slice,
): Promise<HourSums> {
  const sums: HourSums = new Map();
  for (const span of spans) {
    for await (const frames of loggedFrames(reader, span)) {
      for (const logged of frames) addValues(sums, logged, { slice, hoursFromMs });
    }
  }
  return sums;
}

function addValues(
  sums: HourSums,
  { frame, isCounted }: LoggedFrame,
  { slice: { number, of }, hoursFromMs }: { slice: Slice; hoursFromMs: number },
): void {
  // The same hash as in the warehouse's statements.
  const isOfSlice = (customerId: string): boolean => of === 1 || crc32(customerId) % of === number;
  for (const { event, value, ...names } of valuesOf(frame, { isRead: isCounted, isWanted: isOfSlice })) {
    const hour = hourOf(readTimes(frame.records, event).occurredAtMs);
    if (hour * 1_000 >= hoursFromMs) addTo(sums, keyText({ ...names, hour }), value, 1);
  }
}
