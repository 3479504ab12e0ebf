import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fatal } from '../failures.ts';
import {
  checksumHolds,
  decodeFrame,
  encodeFrame,
  FRAME_HEADER_BYTES,
  type FrameContent,
  measureFrame,
  sealFrame,
} from './frame.ts';
import { RECORD_BYTES } from './record.ts';

const name = fc.string({ unit: 'grapheme', maxLength: 12 });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const event = fc.record({ line: fc.uint8Array({ maxLength: 60 }), isRechecked: fc.boolean() });
const customerMeter = fc.record({
  environment: name,
  customerId: name,
  meterKey: name,
  occurredFromMs: time,
  occurredToMs: time,
});

describe('a frame', () => {
  it('gives back what was put into it', () => {
    const parts = fc.record({
      events: fc.array(event, { maxLength: 20 }),
      touched: fc.array(customerMeter),
      time,
    });
    fc.assert(
      fc.property(parts, ({ events, touched, time }) => {
        const logId = randomBytes(16);
        const records = events.map(() => randomBytes(RECORD_BYTES));
        const lines = events.map(({ line }) => Buffer.from([...line, 10]));
        const recheck = events.flatMap(({ isRechecked }, at) => (isRechecked ? [at] : []));
        const eventCount = events.length;
        const written = { logId, committedAtMs: time, eventCount, records, recheck, lines };
        const spans = touched.map(({ occurredFromMs, occurredToMs, ...names }) => ({
          pair: JSON.stringify(Object.values(names)).slice(1, -1),
          occurredFromMs,
          occurredToMs,
        }));
        expect(decodeFrame(Buffer.concat(encodeFrame({ ...written, touched: spans })))).toEqual({
          ...written,
          touched,
          records: Buffer.concat(records),
          lines: Buffer.concat(lines),
        });
      }),
    );
  });

  // Mutant this test catches: crc32 of an empty part, which made every frame without lines or re-checks
  // unreadable.
  it('has a valid checksum when parts of it are empty', () => {
    const empty = [Buffer.from(new ArrayBuffer(0)), Buffer.alloc(0), new Uint8Array(0)];
    const frame = encodeFrame({ ...sample(), recheck: [], records: empty, lines: empty, eventCount: 0 });
    expect(checksumHolds(Buffer.concat(frame))).toBe(true);
  });

  it('does not copy large pieces, and joins small ones', () => {
    const content = sample();
    expect(encodeFrame(content)).toHaveLength(2);
    const lines = Buffer.alloc(64 * 1024, '\n');
    expect(encodeFrame({ ...content, lines: [lines] })).toContain(lines);
  });

  it('that was collected in memory gives back what is in it, in one piece or with its names behind', () => {
    const events = fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 });
    fc.assert(
      fc.property(events, fc.array(customerMeter), fc.boolean(), (given, touched, hasRoom) => {
        const content = { ...sample(), eventCount: given.length, recheck: [] };
        const records = Buffer.concat(given.map(() => randomBytes(RECORD_BYTES)));
        const lines = Buffer.concat(given.map((line) => Buffer.from([...line, 10])));
        const spans = touched.map(({ occurredFromMs, occurredToMs, ...names }) => ({
          pair: JSON.stringify(Object.values(names)).slice(1, -1),
          occurredFromMs,
          occurredToMs,
        }));
        const collected = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES, 'x'), lines, records]);
        const memory = Buffer.concat([collected, Buffer.alloc(hasRoom ? 20_000 : 0, 'y')]);
        const pieces = sealFrame(memory, { ...content, touched: spans, linesBytes: lines.length });
        expect(pieces).toHaveLength(hasRoom ? 1 : 2);
        expect(decodeFrame(Buffer.concat(pieces))).toEqual({ ...content, touched, records, lines });
      }),
    );
  });

  // Mutant this test catches: a field left out of the checksum.
  it.each([
    ['made of parts', () => encodeFrame(sample())],
    ['collected in memory', collectedSample],
  ])('%s is known to be damaged whichever bit of it is turned', (_, pieces) => {
    const frame = Buffer.concat(pieces());
    for (let bit = 0; bit < frame.length * 8; bit++) {
      const at = bit >> 3;
      if (at === 6 || at === 7) continue; // no code reads these two
      const damaged = Buffer.from(frame);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (bit & 7));
      expect(() => decodeFrame(damaged), `bit ${bit}`).toThrow(Fatal);
    }
  });

  it('is measured from its first bytes; a part of it is cut, anything else damaged', () => {
    const frame = Buffer.concat(encodeFrame(sample()));
    expect(measureFrame(Buffer.concat([frame, frame]))).toBe(frame.length);
    for (let bytes = 0; bytes < frame.length; bytes++) {
      expect(measureFrame(frame.subarray(0, bytes))).toBe('cut');
    }
    expect(measureFrame(Buffer.alloc(FRAME_HEADER_BYTES))).toBe('damaged');
    expect(checksumHolds(frame)).toBe(true);
  });

  it('of an unknown version is rejected, not misread', () => {
    const frame = Buffer.concat(encodeFrame(sample()));
    frame.writeUInt16LE(3, 4);
    expect(() => decodeFrame(frame)).toThrow(expect.objectContaining({ code: 'frame_version_unknown' }));
  });
});

function collectedSample(): Uint8Array[] {
  const { records, lines, ...content } = sample();
  const memory = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), ...lines, ...records, Buffer.alloc(99)]);
  return sealFrame(memory, { ...content, linesBytes: 9 });
}

function sample(): FrameContent {
  return {
    logId: randomBytes(16),
    committedAtMs: 1_700_000_000_000,
    eventCount: 1,
    touched: [{ pair: '"ws_a:live","cus_a","m"', occurredFromMs: 1, occurredToMs: 2 }],
    records: [randomBytes(RECORD_BYTES)],
    recheck: [0],
    lines: [Buffer.from('["line"]\n')],
  };
}
