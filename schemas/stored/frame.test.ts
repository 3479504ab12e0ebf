import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { earlierFrameOf, ofLaterVersion } from '../../tests/support/earlier-frames.ts';
import { eventLine } from '../../tests/support/event-line.ts';
import { eventId } from '../../tests/support/load-frames.ts';
import { Fatal } from '../failures.ts';
import {
  checksumHolds,
  decodeFrame,
  encodeFrame,
  FRAME_HEADER_BYTES,
  type Frame,
  type FrameContent,
  measureFrame,
  NUMBER_BYTES,
  sealFrame,
  type TouchedSpan,
} from './frame.ts';
import { eventIdsOf, RECORD_BYTES } from './record.ts';
import { rowLines } from './row-lines.ts';
import { changeText } from './touched-rows.ts';

const name = fc.string({ unit: 'grapheme', maxLength: 12 });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 });
const event = fc.record({ line: fc.uint8Array({ maxLength: 60 }), isRechecked: fc.boolean() });
const names = { environment: name, customerId: name, meterKey: name };
const change = fc.record(
  {
    number: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    voids: fc.boolean(),
    of: fc.integer({ min: 1 }),
  },
  { requiredKeys: ['number', 'voids'] },
);
const span = { occurredFromMs: time, occurredToMs: time };
const customerMeter = fc.oneof(fc.record({ ...names, ...span }), fc.record({ ...names, change, ...span }));
type Touched = Frame['touched'][number];

/** As it is written. */
function spanOf({ occurredFromMs, occurredToMs, change, ...names }: Touched): TouchedSpan {
  const pair = JSON.stringify(Object.values(names)).slice(1, -1) + changeText(change);
  return { pair, occurredFromMs, occurredToMs };
}

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
        const numbers = Uint16Array.from(events, (_, at) => at * 3);
        const written = { logId, committedAtMs: time, eventCount, records, recheck, lines };
        const spans = touched.map(spanOf);
        const bytes = Buffer.concat(encodeFrame({ ...written, numbers, touched: spans }));
        expect(decodeFrame(bytes)).toEqual({
          ...written,
          bytes,
          touched,
          records: Buffer.concat(records),
          numbers: Buffer.from(numbers.buffer),
          lines: Buffer.concat(lines),
        });
      }),
    );
  });

  // Mutant this test catches: crc32 of an empty part, which made every frame without lines or re-checks
  // unreadable.
  it('has a valid checksum when parts of it are empty', () => {
    const empty = [Buffer.from(new ArrayBuffer(0)), Buffer.alloc(0), new Uint8Array(0)];
    const none = { recheck: [], records: empty, numbers: new Uint16Array(0), lines: empty, eventCount: 0 };
    const frame = encodeFrame({ ...sample(), ...none });
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
        const spans = touched.map(spanOf);
        const numbers = randomBytes(given.length * NUMBER_BYTES);
        const collected = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES, 'x'), lines, records, numbers]);
        const memory = Buffer.concat([collected, Buffer.alloc(hasRoom ? 20_000 : 0, 'y')]);
        const pieces = sealFrame(memory, { ...content, touched: spans, linesBytes: lines.length });
        expect(pieces).toHaveLength(hasRoom ? 1 : 2);
        const bytes = Buffer.concat(pieces);
        const whole = { ...content, bytes, touched, records, numbers, lines };
        expect(decodeFrame(bytes)).toEqual(whole);
      }),
    );
  });

  // Mutant this test catches: a field left out of the checksum, or another version accepted.
  it.each([
    ['made of parts', () => encodeFrame(sample())],
    ['collected in memory', collectedSample],
    ['with a change', () => encodeFrame(ofChange())],
  ])('%s is known to be damaged whichever bit of it is turned', (_, pieces) => {
    const frame = Buffer.concat(pieces());
    for (let bit = 0; bit < frame.length * 8; bit++) {
      const at = bit >> 3;
      if (at === 6 || at === 7) continue; // no code reads these two
      const damaged = Buffer.from(frame);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (bit & 7));
      expect(() => decodeFrame(damaged), `bit ${bit}`).toThrow(Fatal);
      // By the checksum alone: a recovery looks at nothing else.
      if (measureFrame(damaged) === damaged.length) expect(checksumHolds(damaged), `bit ${bit}`).toBe(false);
    }
  });

  // Red when a length within it is trusted: a RangeError, or columns of what lies behind the frame.
  it('whose parts do not fill it, or are not what they should be, is damaged whatever its checksum', () => {
    const isSound = fc.constantFrom(
      ...[threeEvents(), ofChange()].map((content) => Buffer.concat(encodeFrame(content))),
    );
    const place = fc.oneof(fc.constantFrom(16, 20, 24, 56), fc.nat(140));
    const word = fc.oneof(fc.nat(300), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
    fc.assert(
      fc.property(isSound, place, word, (sound, place, word) => {
        if (place > sound.length - FRAME_HEADER_BYTES - 4) return;
        const isLength = [16, 20, 24, 56].includes(place);
        const frame = Buffer.from(sound);
        frame.writeUInt32LE(word, isLength ? place : FRAME_HEADER_BYTES + place);
        if (frame.equals(sound)) return;
        frame.writeUInt32LE(crc32(frame.subarray(16)), 12);
        const codes = isLength ? ['frame_damaged'] : ['frame_damaged', 'line_unreadable', undefined];
        expect(codes).toContain(codeOfReading(frame));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([1, 2] as const)(
    'of version %s is read, and known to be damaged with another version',
    (version) => {
      const events = [{ id: 'a' }, { id: 'b', customerId: 'cus_b' }];
      const frame = earlierFrameOf(version, randomBytes(16), events);
      const { touched, records, numbers, lines } = decodeFrame(frame);
      expect(touched.map(({ customerId }) => customerId)).toEqual(['cus_a', 'cus_b']);
      expect([numbers, eventIdsOf(records)]).toEqual([undefined, events.map(({ id }) => eventId(id))]);
      expect(lines.toString()).toBe(
        events.map(({ id, ...more }) => eventLine({ id: eventId(id), ...more })).join(''),
      );
      frame.writeUInt16LE(3, 4);
      expect(() => decodeFrame(frame)).toThrow(expect.objectContaining({ code: 'frame_damaged' }));
    },
  );

  it('is measured from its first bytes; a part of it is cut, anything else damaged', () => {
    const frame = Buffer.concat(encodeFrame(sample()));
    expect(measureFrame(Buffer.concat([frame, frame]))).toBe(frame.length);
    for (let bytes = 0; bytes < frame.length; bytes++) {
      expect(measureFrame(frame.subarray(0, bytes))).toBe('cut');
    }
    expect(measureFrame(Buffer.alloc(FRAME_HEADER_BYTES))).toBe('damaged');
    expect(checksumHolds(frame)).toBe(true);
  });

  // Red when it has version 3: a release that knows no changes would count its events.
  it('has version 4 with records of a change, and version 3 without', () => {
    for (const seal of [(content: FrameContent) => Buffer.concat(encodeFrame(content)), collectedOf]) {
      const [ordinary, changed] = [seal(sample()), seal(ofChange())];
      expect([ordinary.readUInt16LE(4), ordinary.readUInt32LE(28)]).toEqual([3, 3]);
      expect([changed.readUInt16LE(4), changed.readUInt32LE(28)]).toEqual([4, 4]);
      expect(decodeFrame(changed).touched.map(({ change }) => change)).toEqual([
        undefined,
        { number: 7, voids: true, of: 3 },
      ]);
    }
  });

  it.each([
    '{"change":0}',
    '{"change":7,"voids":1}',
    '{"change":7,"of":-1}',
    '{"change":7,"later":true}',
    '{"voids":true}',
    '7',
  ])('whose change is %s is damaged', (member) => {
    const [first, second] = ofChange().touched as [TouchedSpan, TouchedSpan];
    const touched = [first, { ...second, pair: `"e","c","m",${member}` }];
    const frame = Buffer.concat(encodeFrame({ ...ofChange(), touched }));
    // Not the last byte of the names of a change: then it is of version 3, which has none.
    expect(() => decodeFrame(frame)).toThrow(expect.objectContaining({ code: 'frame_damaged' }));
  });

  it('of version 3 with a change is damaged', () => {
    const frame = Buffer.concat(encodeFrame(ofChange()));
    frame.writeUInt16LE(3, 4);
    frame.writeUInt32LE(3, 28);
    frame.writeUInt32LE(crc32(frame.subarray(16)), 12);
    expect(() => decodeFrame(frame)).toThrow(expect.objectContaining({ code: 'frame_damaged' }));
  });

  it('of an unknown version is rejected, not misread', () => {
    const frame = ofLaterVersion(encodeFrame(sample()));
    expect(() => decodeFrame(frame)).toThrow(expect.objectContaining({ code: 'frame_version_unknown' }));
  });
});

function collectedSample(): Uint8Array[] {
  return [collectedOf(sample())];
}

function collectedOf({ records, numbers, lines, ...content }: FrameContent): Buffer {
  const parts = [...lines, ...records, Buffer.from(numbers.buffer)];
  const memory = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), ...parts, Buffer.alloc(99)]);
  return Buffer.concat(sealFrame(memory, { ...content, linesBytes: Buffer.concat(lines).length }));
}

/** The code of the Fatal that its reading ends with; other errors are thrown. */
function codeOfReading(frame: Buffer): string | undefined {
  try {
    rowLines(decodeFrame(frame));
    return undefined;
  } catch (error) {
    if (error instanceof Fatal) return error.code;
    throw error;
  }
}

function threeEvents(): FrameContent {
  const one = sample();
  return {
    ...one,
    eventCount: 3,
    touched: [...one.touched, { pair: '"ws_a:live","cus_b","m"', occurredFromMs: 1, occurredToMs: 2 }],
    records: Array.from({ length: 3 }, () => Buffer.alloc(RECORD_BYTES, 1)),
    numbers: Uint16Array.of(0, 1, 0),
    recheck: [0, 2],
    lines: [Buffer.from('1,"",{}\n2,"",{}\n3,"",{}\n')],
  };
}

/** An ordinary event, and the void of one that is of a change itself. */
function ofChange(): FrameContent {
  const { touched, ...one } = sample();
  const pair = '"ws_a:live","cus_a","m",{"change":7,"voids":true,"of":3}';
  return {
    ...one,
    eventCount: 2,
    touched: [...touched, { pair, occurredFromMs: 1, occurredToMs: 2 }],
    records: Array.from({ length: 2 }, () => Buffer.alloc(RECORD_BYTES, 1)),
    numbers: Uint16Array.of(0, 1),
    recheck: [],
    lines: [Buffer.from(`1,"",{}\n"${eventId('a')}",2,"",{}\n`)],
  };
}

function sample(): FrameContent {
  return {
    logId: randomBytes(16),
    committedAtMs: 1_700_000_000_000,
    eventCount: 1,
    touched: [{ pair: '"ws_a:live","cus_a","m"', occurredFromMs: 1, occurredToMs: 2 }],
    records: [randomBytes(RECORD_BYTES)],
    numbers: new Uint16Array(1),
    recheck: [0],
    lines: [Buffer.from('["line"]\n')],
  };
}
