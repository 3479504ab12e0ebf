import { crc32 } from 'node:zlib';
import { FRAME_HEADER_BYTES, FRAME_MAGIC } from '../../schemas/stored/frame.ts';
import { eventLine, TEST_NOW_MS } from './event-line.ts';
import { eventId, type LoggedEvent, recordOf, touchedBy } from './load-frames.ts';

/** The same frame in a version that no release has yet. */
export function ofLaterVersion(pieces: Uint8Array[]): Buffer {
  const frame = Buffer.concat(pieces);
  frame.writeUInt16LE(LATER_VERSION, 4);
  frame.writeUInt32LE(LATER_VERSION, 28);
  frame.writeUInt32LE(crc32(frame.subarray(16)), 12);
  return frame;
}

const LATER_VERSION = 99;

/** Versions of frames that are read and no longer written: their lines are whole rows. */
export type EarlierVersion = 1 | 2;

/** As earlier releases wrote it. `line` of an event replaces its row. */
export function earlierFrameOf(
  version: EarlierVersion,
  logId: Uint8Array,
  events: LoggedEvent[],
  committedAtMs = TEST_NOW_MS,
): Buffer {
  const spans = touchedBy(events).map(({ pair, occurredFromMs, occurredToMs }) => {
    return `[${pair},${occurredFromMs},${occurredToMs}]`;
  });
  const touched = Buffer.from(`[${spans.join(',')}]`);
  const records = Buffer.concat(events.map(recordOf));
  const rows = events.map((event) => event.line ?? eventLine({ ...event, id: eventId(event.id) }));
  const lines = Buffer.from(rows.join(''));
  const body = version === 1 ? [touched, records, lines] : [lines, records, touched];
  const frame = Buffer.concat([Buffer.alloc(FRAME_HEADER_BYTES), ...body]);
  frame.writeUInt32LE(FRAME_MAGIC, 0);
  frame.writeUInt16LE(version, 4);
  frame.writeUInt32LE(frame.length, 8);
  frame.writeUInt32LE(events.length, 16);
  frame.writeUInt32LE(touched.length, 20);
  frame.writeUInt32LE(lines.length, 24);
  frame.writeBigUInt64LE(BigInt(committedAtMs), 32);
  frame.set(logId, 40);
  frame.writeUInt32LE(crc32(frame.subarray(16)), 12);
  return frame;
}
