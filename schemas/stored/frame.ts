/**
 * A frame: what one group commit puts on the log, and what the aggregator loads. All integers little-endian.
 *
 *   0  u32  magic 'MGFR'            32 u64  committedAtMs: later frames were acknowledged later
 *   4  u16  version                 40 16B  log id
 *   6  u16  zero                    56 u32  re-check count (0 on the embedded log)
 *   8  u32  frame bytes in all      60 u32  zero
 *  12  u32  CRC-32 of bytes 16…     64      version 1: touched customers and meters (JSON),
 *  16  u32  event count                     then 40 B records, then re-check indexes (u32 each),
 *  20  u32  touched bytes                   then the events' lines;
 *  24  u32  lines bytes                     version 2: lines, records, re-check indexes, touched;
 *  28  u32  from version 3 on the                     version 3: lines, records, numbers, re-check indexes,
 *           version again, else zero                  touched
 *
 * A line of version 3 holds only what neither the event's record (schemas/stored/record.ts) nor `touched`
 * says; its number (u16) says which of `touched` the event is of. Version 4 is the same with records of
 * changes of usage (touched-rows.ts), and is written only with these: a release that knows no changes would
 * count them. The lines of versions 1 and 2 are whole rows. All of them: schemas/stored/row-lines.ts.
 */

import { crc32 } from 'node:zlib';
import { Fatal } from '../failures.ts';
import type { ChangeRows } from './change-rows.ts';
import { RECORD_BYTES } from './record.ts';
import { namesChange, parseTouchedRows } from './touched-rows.ts';

export const FRAME_MAGIC = 0x5246474d;
/** The only one with its lines behind the rest. */
const LINES_LAST = 1;
/** From this one on, lines are short and the version is under the checksum. */
const SHORT_LINES = 3;
/** With records of changes of usage, and only then. */
const WITH_CHANGES = 4;
export const FRAME_HEADER_BYTES = 64;
/** Of an event: which of `touched` it is of. */
export const NUMBER_BYTES = 2;
/** So that the number of every customer and meter fits. */
export const FRAME_EVENTS_MAX = 65_536;
/** A group commit never exceeds this; a reader may reject a greater length as damage. */
const FRAME_BYTES_MAX = 32 * 1024 * 1024;

/** A (customer, meter) with events in a frame, and the span of their occurredAt in milliseconds. */
export interface TouchedCustomerMeter {
  environment: string;
  customerId: string;
  meterKey: string;
  /** The change of usage that these events are of; left out: ordinary usage. */
  change?: ChangeRows;
  occurredFromMs: number;
  occurredToMs: number;
}

/**
 * The same as written: `pair` is the JSON text of environment, customer id and meter key, without brackets,
 * and of a change behind it (`changeText` in touched-rows.ts).
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
  /** Of each event, which of `touched` it is of. */
  numbers: Uint16Array;
  /** Indexes of events whose id the load must look up first. */
  recheck: number[];
  /** Short lines, each ended by a line feed. */
  lines: Uint8Array[];
}

export interface Frame {
  logId: Uint8Array;
  committedAtMs: number;
  eventCount: number;
  touched: TouchedCustomerMeter[];
  records: Buffer;
  /** Of each event, u16: which of `touched` it is of. Undefined where the lines are whole rows. */
  numbers: Buffer | undefined;
  recheck: number[];
  /** Use `rowLines` (schemas/stored/row-lines.ts): only that knows both kinds. */
  lines: Buffer;
  /** All of it. */
  bytes: Buffer;
}

/** The frame as buffers to be written one after the other: large ones are not copied. */
export function encodeFrame(content: FrameContent): Uint8Array[] {
  const touched = Buffer.from(touchedText(content.touched));
  const recheck = Buffer.from(Uint32Array.from(content.recheck).buffer);
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  const numbers = bytesOf(content.numbers);
  const body = joinedIfSmall([...content.lines, ...content.records, numbers, recheck, touched]);
  writeHeader(header, {
    ...content,
    version: versionOf(content.touched),
    frameBytes: FRAME_HEADER_BYTES + totalBytes(body),
    touchedBytes: touched.length,
    linesBytes: totalBytes(content.lines),
    recheckCount: content.recheck.length,
  });
  let crc = crc32(header.subarray(16));
  for (const part of body) {
    // For an empty array without a buffer, crc32 of Node 20 returns 0, whatever value it continues from.
    if (part.length > 0) crc = crc32(part, crc);
  }
  header.writeUInt32LE(crc, 12);
  return [header, ...body];
}

interface CollectedContent extends Pick<FrameContent, 'logId' | 'committedAtMs' | 'eventCount' | 'touched'> {
  linesBytes: number;
}

/**
 * The frame in `memory`, which holds its lines from FRAME_HEADER_BYTES on, and behind them records and
 * numbers: header, touched and checksum are written around them. As pieces: with no room for `touched` that
 * is one of its own.
 */
export function sealFrame(memory: Buffer, content: CollectedContent): Uint8Array[] {
  const touched = touchedText(content.touched);
  const touchedBytes = Buffer.byteLength(touched);
  const eventBytes = content.eventCount * (RECORD_BYTES + NUMBER_BYTES);
  const touchedAt = FRAME_HEADER_BYTES + content.linesBytes + eventBytes;
  const frameBytes = touchedAt + touchedBytes;
  const { logId, committedAtMs, eventCount, linesBytes } = content;
  // Each by its name: `...content` goes through the runtime, 2 µs per frame.
  writeHeader(memory, {
    version: versionOf(content.touched),
    logId,
    committedAtMs,
    eventCount,
    linesBytes,
    frameBytes,
    touchedBytes,
    recheckCount: 0,
  });
  const fits = frameBytes <= memory.length;
  if (fits) memory.write(touched, touchedAt);
  const pieces = fits
    ? [memory.subarray(0, frameBytes)]
    : [memory.subarray(0, touchedAt), Buffer.from(touched)];
  const crc = pieces.reduce((sum, piece, at) => crc32(at === 0 ? piece.subarray(16) : piece, sum), 0);
  memory.writeUInt32LE(crc, 12);
  return pieces;
}

function versionOf(touched: readonly TouchedSpan[]): number {
  const isOfChange = touched.some(({ pair }) => namesChange(pair));
  // mutant: changes-in-ordinary-frames
  return isOfChange ? WITH_CHANGES : SHORT_LINES;
}

interface Header extends Pick<FrameContent, 'logId' | 'committedAtMs' | 'eventCount'> {
  version: number;
  frameBytes: number;
  touchedBytes: number;
  linesBytes: number;
  recheckCount: number;
}

/** All but the checksum. */
function writeHeader(memory: Buffer, header: Header): void {
  memory.fill(0, 0, FRAME_HEADER_BYTES);
  memory.writeUInt32LE(FRAME_MAGIC, 0);
  memory.writeUInt16LE(header.version, 4);
  memory.writeUInt32LE(header.frameBytes, 8);
  memory.writeUInt32LE(header.eventCount, 16);
  memory.writeUInt32LE(header.touchedBytes, 20);
  memory.writeUInt32LE(header.linesBytes, 24);
  memory.writeUInt32LE(header.version, 28);
  memory.writeBigUInt64LE(BigInt(header.committedAtMs), 32);
  memory.set(header.logId, 40);
  memory.writeUInt32LE(header.recheckCount, 56);
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

/**
 * Whether the checksum of the whole frame is valid, and its version the one that it was written with. `frame`
 * is exactly the measured bytes.
 */
export function checksumHolds(frame: Buffer): boolean {
  const version = frame.readUInt16LE(4);
  // mutant: version-outside-the-checksum
  if (frame.readUInt32LE(28) !== (version < SHORT_LINES ? 0 : version)) return false;
  return crc32(frame.subarray(16)) === frame.readUInt32LE(12);
}

/**
 * Reads a whole frame. Throws Fatal `frame_damaged` or `frame_version_unknown`; the bytes are not copied. A
 * right checksum does not say that a sound writer made it: no part reaches beyond the frame.
 */
export function decodeFrame(frame: Buffer): Frame {
  if (measureFrame(frame) !== frame.length || !checksumHolds(frame)) throw damaged('fails its checksum');
  const version = frame.readUInt16LE(4);
  if (version < LINES_LAST || version > WITH_CHANGES) {
    throw new Fatal('frame_version_unknown', `A frame of version ${version} needs a newer Metergate.`);
  }
  const eventCount = frame.readUInt32LE(16);
  const [touchedBytes, linesBytes] = [frame.readUInt32LE(20), frame.readUInt32LE(24)];
  const isShort = version >= SHORT_LINES;
  const isLast = version === LINES_LAST;
  const recheckBytes = frame.readUInt32LE(56) * 4;
  const eventBytes = eventCount * (RECORD_BYTES + (isShort ? NUMBER_BYTES : 0));
  // mutant: inner-lengths-believed
  if (FRAME_HEADER_BYTES + linesBytes + eventBytes + recheckBytes + touchedBytes !== frame.length) {
    throw damaged('has parts of another length than it has in all');
  }
  let at = FRAME_HEADER_BYTES;
  const next = (bytes: number) => {
    at += bytes;
    return frame.subarray(at - bytes, at);
  };
  const front = next(isLast ? touchedBytes : linesBytes);
  const records = next(eventCount * RECORD_BYTES);
  const numbers = isShort ? next(eventCount * NUMBER_BYTES) : undefined;
  const recheck = next(recheckBytes);
  const back = next(isLast ? linesBytes : touchedBytes);
  return {
    logId: frame.subarray(40, 56),
    committedAtMs: Number(frame.readBigUInt64LE(32)),
    eventCount,
    touched: parseTouched((isLast ? front : back).toString(), version >= WITH_CHANGES),
    records,
    numbers,
    recheck: readRecheck(recheck, eventCount),
    lines: isLast ? back : front,
    bytes: frame,
  };
}

function touchedText(spans: TouchedSpan[]): string {
  return `[${spans.map(touchedRow).join(',')}]`;
}

function touchedRow(span: TouchedSpan): string {
  return `[${span.pair},${span.occurredFromMs},${span.occurredToMs}]`;
}

function parseTouched(text: string, mayHaveChanges: boolean): TouchedCustomerMeter[] {
  const rows = parseTouchedRows(text, mayHaveChanges);
  if (!rows) throw damaged('names no customers and meters');
  return rows;
}

function readRecheck(indexes: Buffer, eventCount: number): number[] {
  return Array.from({ length: indexes.length / 4 }, (_, at) => {
    const index = indexes.readUInt32LE(at * 4);
    if (index >= eventCount) throw damaged('names events that it does not have');
    return index;
  });
}

function damaged(how: string): Fatal {
  return new Fatal('frame_damaged', `A frame of the log ${how}.`);
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function totalBytes(parts: Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}
