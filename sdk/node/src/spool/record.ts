import { Buffer } from 'node:buffer';
import { readSync } from 'node:fs';
import { giveBack, takeBuffer } from '../meter/body-buffers.ts';
import { BODY_HEAD_BYTES, BODY_TAIL_BYTES, type EventBatch, enclosed } from '../meter/event-batch.ts';
import { crc32 } from './crc32.ts';

/*
 * The format of a segment, which the clients of all languages share: 8 bytes `MGSPOOL1`, then records. A
 * record: u32 LE length of the payload, u32 LE CRC-32 of the payload, payload: the UTF-8 JSON of one event.
 */
export const SEGMENT_HEAD = Buffer.from('MGSPOOL1');
const RECORD_HEAD_BYTES = 8;
/** Larger than any: a length above it is damage. */
const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;
const CHUNK_BYTES_MIN = 4 * 1024;
/** Events are not all of one size. */
const CHUNK_SPARE = 1.1;

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Good until the next call. */
export function encodeRecord(payload: string): Buffer {
  // A character is at most three bytes.
  const bytesMax = RECORD_HEAD_BYTES + payload.length * 3;
  if (bytesMax > scratch.length) scratch = Buffer.allocUnsafeSlow(bytesMax);
  const end = RECORD_HEAD_BYTES + scratch.write(payload, RECORD_HEAD_BYTES);
  scratch.writeUInt32LE(end - RECORD_HEAD_BYTES, 0);
  scratch.writeUInt32LE(crc32(scratch, RECORD_HEAD_BYTES, end), 4);
  return scratch.subarray(0, end);
}

export interface RecordRange {
  /** Where a record begins. */
  from: number;
  to: number;
  eventsMax: number;
  /** Of records; the first one is read whatever its size. */
  bytesMax: number;
  /** About so many each, with its head. */
  eventBytes: number;
}

export interface Records {
  /** Good for a request as they are: what was read is its body. */
  events: EventBatch;
  /** Behind the last of them. */
  end: number;
  /** What begins there is cut, or has another checksum. */
  isDamaged: boolean;
}

/** Reads whole records, at least one where there is one. Throws what the file system throws. */
export function readRecords(fd: number, range: RecordRange): Records {
  const { from, to } = range;
  const wished = Math.min(to - from, chunkBytes(range));
  const first = recordsIn(readChunk(fd, from, wished), range);
  const isCut = isNone(first) && first.neededBytes > wished && first.neededBytes <= to - from;
  if (isCut) giveBack(first.events.body);
  const records = isCut ? recordsIn(readChunk(fd, from, first.neededBytes), range) : first;
  // Also a file that is shorter than it was.
  return { ...records, isDamaged: records.isDamaged || (isNone(records) && from < to) };
}

function isNone({ events }: Records): boolean {
  return events.begins.length === 0;
}

/** What is read beyond the events is read again with the next ones; what is missing of them comes then. */
function chunkBytes({ eventsMax, bytesMax, eventBytes }: RecordRange): number {
  const events = Math.ceil(eventsMax * eventBytes * CHUNK_SPARE);
  return Math.max(CHUNK_BYTES_MIN, Math.min(events, bytesMax));
}

/** With room for what surrounds the events in a body. */
function readChunk(fd: number, from: number, bytes: number): Buffer<ArrayBuffer> {
  const taken = takeBuffer(BODY_HEAD_BYTES + bytes + BODY_TAIL_BYTES);
  const chunk = Buffer.from(taken.buffer, 0, taken.length);
  let length = 0;
  while (length < bytes) {
    const read = readSync(fd, chunk, BODY_HEAD_BYTES + length, bytes - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return chunk.subarray(0, BODY_HEAD_BYTES + length + BODY_TAIL_BYTES);
}

/**
 * Makes a body of the records of a chunk: their heads become commas and white space. Also gives how many
 * bytes the first record has that is not whole in it.
 */
function recordsIn(chunk: Buffer<ArrayBuffer>, range: RecordRange): Records & { neededBytes: number } {
  const { from, to, eventsMax, bytesMax } = range;
  const [begins, ends]: [number[], number[]] = [[], []];
  const lengthBytes = chunk.length - BODY_TAIL_BYTES;
  let at = BODY_HEAD_BYTES;
  const end = (neededBytes: number) => {
    const readTo = from + at - BODY_HEAD_BYTES;
    // Cut by the chunk alone it is not damaged.
    const isDamaged = begins.length < eventsMax && readTo < to && readTo + neededBytes > to;
    const events = { body: enclosed(chunk, at), begins, ends };
    return { events, end: readTo, isDamaged, neededBytes };
  };
  while (begins.length < eventsMax) {
    const begin = at + RECORD_HEAD_BYTES;
    if (begin > lengthBytes) return end(RECORD_HEAD_BYTES);
    const length = chunk.readUInt32LE(at);
    // Zeros, as a power cut may leave them, have the right checksum of no payload.
    if (length === 0 || length > PAYLOAD_BYTES_MAX) return end(Number.POSITIVE_INFINITY);
    const next = begin + length;
    if (begins.length > 0 && next - BODY_HEAD_BYTES > bytesMax) return { ...end(0), isDamaged: false };
    if (next > lengthBytes) return end(next - at);
    // mutant: spool-checksum-ignored
    if (crc32(chunk, begin, next) !== chunk.readUInt32LE(at + 4)) return end(Number.POSITIVE_INFINITY);
    chunk.set(begins.length === 0 ? FIRST_HEAD : COMMA_HEAD, at);
    begins.push(begin);
    ends.push(next);
    at = next;
  }
  return end(0);
}

const FIRST_HEAD = Buffer.from(' '.repeat(RECORD_HEAD_BYTES));
const COMMA_HEAD = Buffer.from(','.padEnd(RECORD_HEAD_BYTES));
