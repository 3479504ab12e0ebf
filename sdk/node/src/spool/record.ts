import { Buffer } from 'node:buffer';
import { readSync } from 'node:fs';
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
  /** Of payloads; the first one is read whatever its size. */
  bytesMax: number;
  /** About so many each, with its head. */
  eventBytes: number;
}

export interface Records {
  payloads: string[];
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
  const isCut = first.payloads.length === 0 && first.neededBytes > wished && first.neededBytes <= to - from;
  const records = isCut ? recordsIn(readChunk(fd, from, first.neededBytes), range) : first;
  // Also a file that is shorter than it was.
  return { ...records, isDamaged: records.isDamaged || (records.payloads.length === 0 && from < to) };
}

/** What is read beyond the events is read again with the next ones; what is missing of them comes then. */
function chunkBytes({ eventsMax, bytesMax, eventBytes }: RecordRange): number {
  const events = Math.ceil(eventsMax * eventBytes * CHUNK_SPARE);
  return Math.max(CHUNK_BYTES_MIN, Math.min(events, bytesMax + eventsMax * RECORD_HEAD_BYTES));
}

function readChunk(fd: number, from: number, bytes: number): Buffer {
  const chunk = Buffer.allocUnsafe(bytes);
  let length = 0;
  while (length < bytes) {
    const read = readSync(fd, chunk, length, bytes - length, from + length);
    if (read === 0) break;
    length += read;
  }
  return chunk.subarray(0, length);
}

/** Also how many bytes the first record has that is not whole in the chunk. */
function recordsIn(chunk: Buffer, range: RecordRange): Records & { neededBytes: number } {
  const { from, to, eventsMax, bytesMax } = range;
  const payloads: string[] = [];
  let at = 0;
  const end = (neededBytes: number) => {
    // Cut by the chunk alone it is not damaged.
    const isDamaged = payloads.length < eventsMax && from + at < to && from + at + neededBytes > to;
    return { payloads, end: from + at, isDamaged, neededBytes };
  };
  for (let bytes = 0; payloads.length < eventsMax; ) {
    if (at + RECORD_HEAD_BYTES > chunk.length) return end(RECORD_HEAD_BYTES);
    const length = chunk.readUInt32LE(at);
    // Zeros, as a power cut may leave them, have the right checksum of no payload.
    if (length === 0 || length > PAYLOAD_BYTES_MAX) return end(Number.POSITIVE_INFINITY);
    if (payloads.length > 0 && bytes + length > bytesMax) return { ...end(0), isDamaged: false };
    const next = at + RECORD_HEAD_BYTES + length;
    if (next > chunk.length) return end(next - at);
    // mutant: spool-checksum-ignored
    if (crc32(chunk, at + RECORD_HEAD_BYTES, next) !== chunk.readUInt32LE(at + 4)) {
      return end(Number.POSITIVE_INFINITY);
    }
    payloads.push(chunk.toString('utf8', at + RECORD_HEAD_BYTES, next));
    bytes += length;
    at = next;
  }
  return end(0);
}
