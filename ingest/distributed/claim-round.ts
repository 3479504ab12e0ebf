import type { Identified } from '../../infra/ports/engine.ts';
import { CLAIM_STATE, type DistributedBatch, OUTCOME } from '../../infra/ports/idempotency-store.ts';
import type { FrameContent, TouchedSpan } from '../../schemas/stored/frame.ts';
import {
  copyRecord,
  copyTimes,
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
  const touched = new Map<string, TouchedSpan & { number: number }>();
  const times = new Float64Array(records.buffer);
  // Mostly all are new, and stay as they are.
  const kept = outcomes.every((one) => one === OUTCOME.created) ? records : new Uint32Array(records.length);
  const numbers = new Uint16Array(outcomes.length);
  const recheck: number[] = [];
  const lines = createLines(parts, takeBuffer);
  let eventCount = 0;
  let at = -1;
  for (const { identified, items } of parts) {
    for (const item of items) {
      if (outcomes[++at] !== OUTCOME.created) continue;
      const isTakenOver = claimStates[at] === CLAIM_STATE.takenOver;
      // mutant: taken-over-unflagged, young-store-unflagged, voids-unflagged
      if (isTakenOver || mayHaveLostKeys || identified.areFlagged) recheck.push(eventCount);
      lines.add(identified, item);
      // With the first times, where it is taken over.
      if (kept !== records) copyRecord(records, at * RECORD_WORDS, kept, eventCount * RECORD_WORDS);
      const customerMeter = identified.customerMeters[identified.customerMeterOf[item] ?? 0] ?? '';
      numbers[eventCount++] = touch(touched, customerMeter, occurredAtMs(times, at));
    }
  }
  return {
    eventCount,
    recheck,
    touched: [...touched.values()],
    numbers: numbers.subarray(0, eventCount),
    records: [new Uint8Array(kept.buffer, 0, eventCount * RECORD_BYTES)],
    lines: [lines.whole()],
  };
}

function createLines(parts: readonly RoundPart[], takeBuffer: TakeBuffer) {
  let bytesMax = 0;
  for (const { identified, items } of parts) {
    for (const item of items) bytesMax += endOf(identified, item) - startOf(identified, item);
  }
  const bytes = takeBuffer(bytesMax);
  let end = 0;
  return {
    add(identified: Identified, item: number): void {
      end += identified.lines.copy(bytes, end, startOf(identified, item), endOf(identified, item));
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

/** Returns its number in this frame. */
function touch(
  touched: Map<string, TouchedSpan & { number: number }>,
  pair: string,
  occurredAtMs: number,
): number {
  const span = touched.get(pair);
  if (!span) {
    const number = touched.size;
    touched.set(pair, { pair, occurredFromMs: occurredAtMs, occurredToMs: occurredAtMs, number });
    return number;
  }
  if (occurredAtMs < span.occurredFromMs) span.occurredFromMs = occurredAtMs;
  if (occurredAtMs > span.occurredToMs) span.occurredToMs = occurredAtMs;
  return span.number;
}
