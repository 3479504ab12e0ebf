import type { Identified } from '../../infra/ports/engine.ts';
import { CLAIM_STATE, type DistributedBatch, OUTCOME } from '../../infra/ports/idempotency-store.ts';
import type { FrameContent, TouchedSpan } from '../../schemas/stored/frame.ts';
import {
  copyRecord,
  copyTimes,
  createdAtMs,
  occurredAtMs,
  RECORD_BYTES,
  RECORD_WORDS,
} from '../../schemas/stored/record.ts';

/** Items of one request in a round of one partition. */
export interface RoundPart {
  identified: Identified;
  /** Numbers in the request. */
  items: readonly number[];
}

/** What is written to the log, but for what the log itself adds. */
export type RoundFrame = Omit<FrameContent, 'logId' | 'committedAtMs'>;

/** Gives memory for the lines of a frame: at least so many bytes. */
export type TakeBuffer = (bytes: number) => Buffer;

/** All items of a round as one batch. */
export function batchOf(parts: readonly RoundPart[], shard: number): Required<DistributedBatch> {
  const count = parts.reduce((sum, { items }) => sum + items.length, 0);
  const records = new Uint32Array(count * RECORD_WORDS);
  const readOnly = new Uint8Array(count);
  let at = 0;
  for (const { identified, items } of parts) {
    for (const item of items) {
      copyRecord(identified.records, item * RECORD_WORDS, records, at * RECORD_WORDS);
      readOnly[at++] = identified.readOnly[item] ?? 0;
    }
  }
  return {
    count,
    records,
    readOnly,
    outcomes: new Uint8Array(count),
    claimStates: new Uint8Array(count),
    shard,
  };
}

/**
 * Copies the times of first events from the batch into the requests, whose responses show them. Skips an
 * event that another instance is still writing: that write may fail, and this event then keeps its own times.
 */
export function takeTimes(
  parts: readonly RoundPart[],
  { records, outcomes, claimStates }: Required<DistributedBatch>,
): void {
  let at = 0;
  for (const { identified, items } of parts) {
    for (const item of items) {
      const claimState = claimStates[at] ?? 0;
      const isPending = (claimState & CLAIM_STATE.pending) !== 0;
      // mutant: pending-times-taken
      const isFirst =
        claimState === CLAIM_STATE.takenOver || (outcomes[at] === OUTCOME.duplicate && !isPending);
      if (isFirst) copyTimes(records, at * RECORD_WORDS, identified.records, item * RECORD_WORDS);
      at++;
    }
  }
}

/**
 * The created events. `mayHaveLostKeys`: any of them may be on the log already. Records and lines are copied
 * into one piece each: thousands of small ones cost more, one by one, than all other work on them.
 */
export function frameOf(
  parts: readonly RoundPart[],
  { records, outcomes, claimStates }: Required<DistributedBatch>,
  mayHaveLostKeys: boolean,
  takeBuffer: TakeBuffer = Buffer.allocUnsafe,
): RoundFrame {
  const touched = new Map<string, TouchedSpan>();
  const times = new Float64Array(records.buffer);
  // Mostly all are new, and stay as they are.
  const kept = outcomes.every((one) => one === OUTCOME.created) ? records : new Uint32Array(records.length);
  const recheck: number[] = [];
  const lines = createLines(parts, takeBuffer);
  let eventCount = 0;
  let at = -1;
  for (const { identified, items } of parts) {
    for (const item of items) {
      if (outcomes[++at] !== OUTCOME.created) continue;
      const isTakenOver = claimStates[at] === CLAIM_STATE.takenOver;
      // mutant: taken-over-unflagged, young-store-unflagged
      if (isTakenOver || mayHaveLostKeys) recheck.push(eventCount);
      const occurredMs = occurredAtMs(times, at);
      // mutant: taken-over-with-new-times
      if (isTakenOver) lines.addWith(identified, item, [occurredMs, createdAtMs(times, at)]);
      else lines.add(identified, item);
      if (kept !== records) copyRecord(records, at * RECORD_WORDS, kept, eventCount * RECORD_WORDS);
      eventCount++;
      touch(touched, identified.customerMeters[identified.customerMeterOf[item] ?? 0] ?? '', occurredMs);
    }
  }
  return {
    eventCount,
    recheck,
    touched: [...touched.values()],
    records: [new Uint8Array(kept.buffer, 0, eventCount * RECORD_BYTES)],
    lines: [lines.whole()],
  };
}

/** A take-over can make a line longer than it was: by two timestamps of 16 digits at most. */
const LONGER_MAX = 32;

function createLines(parts: readonly RoundPart[], takeBuffer: TakeBuffer) {
  let bytesMax = 0;
  for (const { identified, items } of parts) {
    for (const item of items) bytesMax += endOf(identified, item) - startOf(identified, item) + LONGER_MAX;
  }
  const bytes = takeBuffer(bytesMax);
  let end = 0;
  return {
    add(identified: Identified, item: number): void {
      end += identified.lines.copy(bytes, end, startOf(identified, item), endOf(identified, item));
    },
    /** Its line, with other times at the end of it. */
    addWith(identified: Identified, item: number, times: readonly [number, number]): void {
      const line = identified.lines.subarray(startOf(identified, item), endOf(identified, item));
      end += withTimes(line, times).copy(bytes, end);
    },
    whole: () => bytes.subarray(0, end),
  };
}

function startOf({ lineEnds }: Identified, item: number): number {
  return item === 0 ? 0 : (lineEnds[item - 1] ?? 0);
}

function endOf({ lineEnds }: Identified, item: number): number {
  return lineEnds[item] ?? 0;
}

/** Occurred-at and created-at end a line (schemas/stored/event-row.ts). */
function withTimes(line: Buffer, [occurredAtMs, createdAtMs]: readonly [number, number]): Buffer {
  const created = line.lastIndexOf(COMMA);
  const occurred = line.lastIndexOf(COMMA, created - 1);
  return Buffer.concat([line.subarray(0, occurred), Buffer.from(`,${occurredAtMs},${createdAtMs}]\n`)]);
}

const COMMA = 44;

function touch(touched: Map<string, TouchedSpan>, customerMeter: string, occurredAtMs: number): void {
  const span = touched.get(customerMeter);
  if (!span) {
    touched.set(customerMeter, {
      pair: customerMeter,
      occurredFromMs: occurredAtMs,
      occurredToMs: occurredAtMs,
    });
    return;
  }
  if (occurredAtMs < span.occurredFromMs) span.occurredFromMs = occurredAtMs;
  if (occurredAtMs > span.occurredToMs) span.occurredToMs = occurredAtMs;
}
