import { readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';
import { ALIGNMENT_BYTES } from '../platform/aligned-memory.ts';

/**
 * A segment: a header, then frames. Header and frames each fill whole blocks, the rest of the last one with
 * zeros: such a file can be written past the page cache. Its name is the position of its first frame, so that
 * the place of a position in its file is `position - base + headerBytes`. Little-endian:
 *
 *   0  u32  magic 'MGSG'        24 u64  base position
 *   4  u16  version             32 u32  zero
 *   6  u16  zero                36 u32  CRC-32 of bytes 0…35
 *   8  16B  log id
 *
 * In version 1, which is read and no longer written, a block is a byte: nothing is padded.
 */
export interface SegmentPlace {
  path: string;
  /** Position of the segment's first frame. */
  base: number;
  logId: Uint8Array;
}

/** The bytes that say which segment this is, and how it is laid out. */
export const SEGMENT_HEADER_BYTES = 40;
/** Of the segments that are written. */
export const BLOCK_BYTES = ALIGNMENT_BYTES;
/** By the version of the segment. */
const BLOCKS_BYTES = new Map([
  [1, 1],
  [2, BLOCK_BYTES],
]);
const SEGMENT_MAGIC = 0x4753474d;
const SEGMENT_VERSION = 2;
const NAME = /^(\d{20})\.seg$/;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

export function segmentName(base: number): string {
  return `${String(base).padStart(20, '0')}.seg`;
}

/** Base positions of the segments that are there, ascending. */
export function listSegments(directory: string): number[] {
  const names = readdirSync(directory).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  return names.map(Number).sort((a, b) => a - b);
}

/** Without the zeros behind it. */
export function encodeSegmentHeader({ base, logId }: SegmentPlace, version = SEGMENT_VERSION): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  header.writeUInt32LE(SEGMENT_MAGIC, 0);
  header.writeUInt16LE(version, 4);
  header.set(logId, 8);
  header.writeBigUInt64LE(BigInt(base), 24);
  header.writeUInt32LE(crc32(header.subarray(0, 36)), 36);
  return header;
}

/**
 * Returns the bytes of a block. Throws Fatal `frame_damaged` when this is not the header of that segment,
 * `log_version_newer` when it may be.
 */
export function checkSegmentHeader(header: Buffer, place: SegmentPlace): number {
  if (!isSegmentHeader(header)) {
    throw new Fatal('frame_damaged', `The header of ${place.path} is damaged.`);
  }
  const version = header.readUInt16LE(4);
  if (version > SEGMENT_VERSION) {
    throw new Fatal('log_version_newer', `${place.path} was written by a newer Metergate: start that one.`);
  }
  const blockBytes = BLOCKS_BYTES.get(version);
  if (blockBytes === undefined || !header.equals(encodeSegmentHeader(place, version))) {
    throw new Fatal(
      'frame_damaged',
      `${place.path} belongs to another log or another place of this one: restore it from a backup.`,
    );
  }
  return blockBytes;
}

export function isSegmentHeader(header: Buffer): boolean {
  return (
    header.length === SEGMENT_HEADER_BYTES &&
    header.readUInt32LE(0) === SEGMENT_MAGIC &&
    header.readUInt32LE(36) === crc32(header.subarray(0, 36))
  );
}

/** Where the frames begin in a file with blocks of this size. */
export function headerBytesOf(blockBytes: number): number {
  return paddedTo(blockBytes, SEGMENT_HEADER_BYTES);
}

/** What so many bytes take of a file with blocks of this size. */
export function paddedTo(blockBytes: number, bytes: number): number {
  return Math.ceil(bytes / blockBytes) * blockBytes;
}

/** Whether this is what pads a block: anything else shows that it was torn or damaged. */
export function isPadding(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}
