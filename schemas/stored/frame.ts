/**
 * A frame: what one group commit puts on the log, and what the aggregator loads. All integers little-endian.
 *
 *   0  u32  magic 'MGFR'            32 u64  committedAtMs: later frames were acknowledged later
 *   4  u16  version                 40 16B  log id
 *   6  u16  zero                    56 u32  re-check count (0 on the embedded log)
 *   8  u32  frame bytes in all      60 u32  zero
 *  12  u32  CRC-32 of bytes 16…     64      touched customers and meters (JSON)
 *  16  u32  event count                     then 40 B records, then re-check indexes (u32 each),
 *  20  u32  touched bytes                   then the events' lines
 *  24  u32  lines bytes
 *  28  u32  zero
 *
 * Records: schemas/stored/record.ts.
 */

import { crc32 } from 'node:zlib';
import { Fatal } from '../failures.ts';
import { RECORD_BYTES } from './record.ts';

export const FRAME_MAGIC = 0x5246474d;
const FRAME_VERSION = 1;
export const FRAME_HEADER_BYTES = 64;
/** A group commit never exceeds this; a reader may reject a greater length as damage. */
const FRAME_BYTES_MAX = 32 * 1024 * 1024;

/** A (customer, meter) with events in a frame, and the span of their occurredAt in milliseconds. */
export interface TouchedCustomerMeter {
  environment: string;
  customerId: string;
  meterKey: string;
  occurredFromMs: number;
  occurredToMs: number;
}

/**
 * The same as written: `pair` is the JSON text of environment, customer id and meter key, without brackets.
 */
export interface TouchedSpan {
  pair: string;
  occurredFromMs: number;
  occurredToMs: number;
}

export interface FrameContent {
  logId: Uint8Array;
  committedAtMs: number;
  eventCount: number;
  touched: TouchedSpan[];
  /** 40 B per event, in the order of the lines. */
  records: Uint8Array[];
  /** Indexes of events whose id the load must look up first. */
  recheck: number[];
  /** Whole lines, each ended by a line feed. */
  lines: Uint8Array[];
}

export interface Frame {
  logId: Uint8Array;
  committedAtMs: number;
  eventCount: number;
  touched: TouchedCustomerMeter[];
  records: Buffer;
  recheck: number[];
  lines: Buffer;
}

/** The frame as buffers to be written one after the other: large ones are not copied. */
export function encodeFrame(content: FrameContent): Uint8Array[] {
  const touched = Buffer.from(`[${content.touched.map(touchedRow).join(',')}]`);
  const recheck = Buffer.from(Uint32Array.from(content.recheck).buffer);
  const linesBytes = totalBytes(content.lines);
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  const body = joinedIfSmall([touched, ...content.records, recheck, ...content.lines]);
  header.writeUInt32LE(FRAME_MAGIC, 0);
  header.writeUInt16LE(FRAME_VERSION, 4);
  header.writeUInt32LE(FRAME_HEADER_BYTES + totalBytes(body), 8);
  header.writeUInt32LE(content.eventCount, 16);
  header.writeUInt32LE(touched.length, 20);
  header.writeUInt32LE(linesBytes, 24);
  header.writeBigUInt64LE(BigInt(content.committedAtMs), 32);
  header.set(content.logId, 40);
  header.writeUInt32LE(content.recheck.length, 56);
  let crc = crc32(header.subarray(16));
  for (const part of body) {
    // For an empty array without a buffer, crc32 of Node 20 returns 0, whatever value it continues from.
    if (part.length > 0) crc = crc32(part, crc);
  }
  header.writeUInt32LE(crc, 12);
  return [header, ...body];
}

/** A piece of its own costs half a microsecond for its checksum and its place in the write. */
const PIECE_BYTES_MIN = 4096;

function joinedIfSmall(pieces: Uint8Array[]): Uint8Array[] {
  const bytes = totalBytes(pieces);
  return bytes < pieces.length * PIECE_BYTES_MIN ? [Buffer.concat(pieces, bytes)] : pieces;
}

/**
 * The length of the frame that begins here, or what is wrong with it. `cut` means that the buffer ends before
 * the frame does: at the tail of the last segment such a frame was never acknowledged.
 */
export function measureFrame(buffer: Buffer): number | 'cut' | 'damaged' {
  if (buffer.length < 12) return 'cut';
  const bytes = buffer.readUInt32LE(8);
  const known = buffer.readUInt32LE(0) === FRAME_MAGIC;
  if (!known || bytes < FRAME_HEADER_BYTES || bytes > FRAME_BYTES_MAX) return 'damaged';
  return bytes > buffer.length ? 'cut' : bytes;
}

/** Whether the checksum of the whole frame is valid. `frame` is exactly the measured bytes. */
export function checksumHolds(frame: Buffer): boolean {
  return crc32(frame.subarray(16)) === frame.readUInt32LE(12);
}

/** Reads a whole frame. Throws Fatal `frame_damaged` or `frame_version_unknown`; the bytes are not copied. */
export function decodeFrame(frame: Buffer): Frame {
  if (measureFrame(frame) !== frame.length || !checksumHolds(frame)) {
    throw new Fatal('frame_damaged', 'A frame of the log fails its checksum.');
  }
  const version = frame.readUInt16LE(4);
  if (version !== FRAME_VERSION) {
    throw new Fatal('frame_version_unknown', `A frame of version ${version} needs a newer Metergate.`);
  }
  const eventCount = frame.readUInt32LE(16);
  const recheckCount = frame.readUInt32LE(56);
  const recordsAt = FRAME_HEADER_BYTES + frame.readUInt32LE(20);
  const recheckAt = recordsAt + eventCount * RECORD_BYTES;
  const linesAt = recheckAt + recheckCount * 4;
  return {
    logId: frame.subarray(40, 56),
    committedAtMs: Number(frame.readBigUInt64LE(32)),
    eventCount,
    touched: parseTouched(frame.toString('utf8', FRAME_HEADER_BYTES, recordsAt)),
    records: frame.subarray(recordsAt, recheckAt),
    recheck: Array.from({ length: recheckCount }, (_, index) => frame.readUInt32LE(recheckAt + index * 4)),
    lines: frame.subarray(linesAt),
  };
}

type TouchedRow = [string, string, string, number, number];

function touchedRow(span: TouchedSpan): string {
  return `[${span.pair},${span.occurredFromMs},${span.occurredToMs}]`;
}

function parseTouched(text: string): TouchedCustomerMeter[] {
  return (JSON.parse(text) as TouchedRow[]).map(
    ([environment, customerId, meterKey, occurredFromMs, occurredToMs]) => ({
      environment,
      customerId,
      meterKey,
      occurredFromMs,
      occurredToMs,
    }),
  );
}

function totalBytes(parts: Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
