import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../../../tests/support/test-folder.ts';
import { batchOf, eventsOf } from '../meter/event-batch.ts';
import { crc32, crc32ByTable } from './crc32.ts';
import { Cursor } from './cursor.ts';
import { encodeRecord, readRecords, SEGMENT_HEAD } from './record.ts';
import { spoil } from './spool-folder-under-test.ts';

const ALL = { eventsMax: 500, bytesMax: 1024 * 1024, eventBytes: 600 };

function segmentOf(...payloads: string[]): { path: string; fd: number; bytes: number } {
  const path = join(testFolder(), '00000001.seg');
  const bytes = Buffer.concat([SEGMENT_HEAD, ...payloads.map((one) => Buffer.from(encodeRecord(one)))]);
  writeFileSync(path, bytes);
  const fd = openSync(path, 'r');
  onTestFinished(() => closeSync(fd));
  return { path, fd, bytes: bytes.length };
}

// The clients of all languages read each other's files: these bytes are the format.
it('a record is its length, its checksum and its JSON', () => {
  const payload = '{"idempotencyKey":"ä-1"}';
  expect(Buffer.from(encodeRecord(payload)).toString('hex')).toBe(
    `19000000c6357e48${Buffer.from(payload).toString('hex')}`,
  );
  expect(SEGMENT_HEAD.toString()).toBe('MGSPOOL1');
});

it('a checksum is that of zlib', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(crc32ByTable(bytes, 0, bytes.length)).toBe(zlibCrc32(bytes));
      expect(crc32(bytes, 0, bytes.length)).toBe(zlibCrc32(bytes));
    }),
  );
});

it('records are read as they were written, in parts of any size', () => {
  const payloads = fc.array(
    fc.string({ maxLength: 400 }).map((text) => JSON.stringify(text)),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(
      payloads,
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 900 }),
      fc.integer({ min: 1, max: 900 }),
      (all, eventsMax, bytesMax, eventBytes) => {
        const { fd, bytes } = segmentOf(...all);
        const read: string[] = [];
        for (let from = SEGMENT_HEAD.length; from < bytes; ) {
          const part = readRecords(fd, { from, to: bytes, eventsMax, bytesMax, eventBytes });
          expect(part.isDamaged).toBe(false);
          const events = eventsOf(part.events);
          expect(events.length).toBeGreaterThan(0);
          expect(events.length).toBeLessThanOrEqual(eventsMax);
          expect(events.length === 1 || part.end - from <= bytesMax).toBe(true);
          // What was read is a request.
          expect(JSON.parse(String(Buffer.from(part.events.body)))).toEqual({
            events: events.map((one) => JSON.parse(one)),
          });
          read.push(...events);
          from = part.end;
        }
        expect(read).toEqual(all);
      },
    ),
    { numRuns: 60 },
  );
});

it('a record that is larger than what is read at a time is read', () => {
  const large = JSON.stringify('é'.repeat(200_000));
  const { fd, bytes } = segmentOf('1', large, '2');
  const first = readRecords(fd, { from: 8, to: bytes, ...ALL });
  const rest = readRecords(fd, { from: first.end, to: bytes, ...ALL });
  const last = readRecords(fd, { from: rest.end, to: bytes, ...ALL });
  expect([first, rest, last].map(({ events }) => eventsOf(events))).toEqual([['1'], [large], ['2']]);
});

it('what is cut or changed anywhere ends the reading there, and is never an event', () => {
  const payloads = ['{"a":1}', '{"b":22}', '{"c":333}'];
  const { path, bytes } = segmentOf(...payloads);
  const whole = readFileSync(path);
  for (let at = SEGMENT_HEAD.length; at < bytes; at++) {
    const changed = Buffer.from(whole);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    for (const spoilt of [whole.subarray(0, at), changed]) {
      writeFileSync(path, spoilt);
      const fd = openSync(path, 'r');
      const read: string[] = [];
      let part = { events: batchOf([]), end: SEGMENT_HEAD.length, isDamaged: false };
      while (!part.isDamaged && part.end < spoilt.length) {
        part = readRecords(fd, { from: part.end, to: spoilt.length, ...ALL });
        read.push(...eventsOf(part.events));
      }
      closeSync(fd);
      expect(read).toEqual(payloads.slice(0, read.length));
      expect(read.length).toBeLessThan(3);
      expect(part.isDamaged).toBe(part.end < spoilt.length);
    }
  }
});

it('a file that became shorter while it is open is damage, not a wait without end', () => {
  const { path, fd, bytes } = segmentOf('1', '2');
  spoil(path, (all) => all.subarray(0, 10));
  const { events, isDamaged } = readRecords(fd, { from: 8, to: bytes, ...ALL });
  expect([eventsOf(events), isDamaged]).toEqual([[], true]);
});

it('the cursor is the newer of its two places, or the older one when that was cut off', () => {
  const path = join(testFolder(), 'cursor');
  const written = new Cursor(path);
  expect(written.start).toEqual({ segment: 0, position: 0 });
  for (const position of [100, 200, 5_000_000_000]) written.write({ segment: 7, position });
  written.close();
  const startOf = () => {
    const opened = new Cursor(path);
    opened.close();
    return opened.start;
  };
  expect(startOf()).toEqual({ segment: 7, position: 5_000_000_000 });
  spoil(path, (bytes) => {
    bytes[24 + 9] = 1 ^ (bytes[24 + 9] ?? 0);
    return bytes;
  });
  expect(startOf()).toEqual({ segment: 7, position: 200 });
  spoil(path, (bytes) => bytes.subarray(0, 10));
  expect(startOf()).toEqual({ segment: 0, position: 0 });
});
