import fc from 'fast-check';
import { expect } from 'vitest';
import { fromBase32 } from '../../../schemas/primitives/ids.ts';
import { decodeFrame, encodeFrame, type Frame } from '../../../schemas/stored/frame.ts';
import { writeRecord } from '../../../schemas/stored/record.ts';
import type { EventLines } from '../../ports/warehouse.ts';
import { asRows } from './event-columns.ts';
import { type EventFields, readEventLines } from './event-fields.ts';
import { plainColumns } from './plain-columns.ts';
import { damaged, fewLines, randomLines } from './random-lines-under-test.ts';
import { openWasmColumns } from './wasm-columns.ts';

const damagedFrames = fewLines.chain((rows) =>
  damaged(fc.constant(Buffer.from(middlesOf(rows).join('')))).map((lines) => [frameOf(rows, lines)]),
);

const GIVEN = {
  rows: randomLines,
  'damaged rows': damaged(fewLines),
  /** The same events as rows and as frames. */
  frames: randomLines.map((rows) => ({ frames: framesOf(rows) })),
  'damaged frames': damagedFrames.map((frames) => ({ frames })),
} satisfies Record<string, fc.Arbitrary<EventLines>>;

/**
 * How many blocks the WebAssembly has read, and not left to the plain writer, which makes the same bytes of
 * the rows.
 */
export async function compareWriters(kind: keyof typeof GIVEN, numRuns: number): Promise<number> {
  const wasm = openWasmColumns();
  let read = 0;
  await fc.assert(
    fc.asyncProperty(GIVEN[kind] as fc.Arbitrary<EventLines>, async (lines) => {
      const fast = (await wasm(lines, (bytes) => Buffer.alloc(bytes)))?.block;
      if (!fast) return;
      read += 1;
      const plain = plainColumns(asRows(lines));
      expect(fast.rows).toBe(plain?.rows);
      expect(fast.bytes.equals(plain?.bytes ?? Buffer.alloc(0))).toBe(true);
    }),
    { numRuns },
  );
  return read;
}

const EVENTS_A_FRAME = 7;

/** Rows as the ingest tier writes their events: frames with short lines. */
export function framesOf(rows: Buffer, eventsMax = EVENTS_A_FRAME): Frame[] {
  const all = rows.toString().trimEnd().split('\n');
  const frames: Frame[] = [];
  for (let from = 0; from < all.length; from += eventsMax) {
    const some = Buffer.from(`${all.slice(from, from + eventsMax).join('\n')}\n`);
    frames.push(frameOf(some, Buffer.from(middlesOf(some).join(''))));
  }
  return frames;
}

/** `lines` are those of the rows, or damaged ones. */
function frameOf(rows: Buffer, lines: Buffer): Frame {
  const events = readEventLines(rows) ?? [];
  const pairs = events.map(pairOf);
  const distinct = [...new Set(pairs)];
  const frame = encodeFrame({
    ...{ logId: Buffer.alloc(16), committedAtMs: 1, recheck: [0], eventCount: events.length },
    touched: distinct.map((pair) => ({ pair, occurredFromMs: -1, occurredToMs: 2 })),
    records: events.map(recordOf),
    numbers: Uint16Array.from(pairs, (pair) => distinct.indexOf(pair)),
    lines: [lines],
  });
  return decodeFrame(Buffer.concat(frame));
}

/** Of a row: what is between its fingerprint and its times. */
const MIDDLE = /^\[(?:"(?:[^"\\]|\\.)*",){5}(.*),-?\d+,-?\d+\]$/;

function middlesOf(rows: Buffer): string[] {
  const all = rows.toString().trimEnd().split('\n');
  return all.map((row) => `${MIDDLE.exec(row)?.[1]}\n`);
}

function pairOf({ environment, customerId, meterKey }: EventFields): string {
  return [environment, customerId, meterKey].map((name) => JSON.stringify(name)).join(',');
}

function recordOf({ id, fingerprint, occurredAtMs, createdAtMs }: EventFields): Buffer {
  const bytes = fromBase32(id.slice('use_'.length)) ?? Buffer.alloc(16);
  return writeRecord({ id: bytes, fingerprint, occurredAtMs, createdAtMs });
}
