import { readdirSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';

/**
 * A segment: a small header, then frames back to back. Its name is the position of its first byte of frames,
 * so that the place of a position in its file is `position - base + SEGMENT_HEADER_BYTES`. Little-endian:
 *
 *   0  u32  magic 'MGSG'        24 u64  base position
 *   4  u16  version             32 u32  zero
 *   6  u16  zero                36 u32  CRC-32 of bytes 0…35
 *   8  16B  log id
 */
export interface SegmentPlace {
  path: string;
  /** Position of the segment's first frame. */
  base: number;
  logId: Uint8Array;
}

export const SEGMENT_HEADER_BYTES = 40;
const SEGMENT_MAGIC = 0x4753474d;
const SEGMENT_VERSION = 1;
const NAME = /^(\d{20})\.seg$/;

export function segmentName(base: number): string {
  return `${String(base).padStart(20, '0')}.seg`;
}

/** Base positions of the segments that are there, ascending. */
export function listSegments(directory: string): number[] {
  const names = readdirSync(directory).flatMap((name) => NAME.exec(name)?.[1] ?? []);
  return names.map(Number).sort((a, b) => a - b);
}

export function encodeSegmentHeader({ base, logId }: SegmentPlace): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  header.writeUInt32LE(SEGMENT_MAGIC, 0);
  header.writeUInt16LE(SEGMENT_VERSION, 4);
  header.set(logId, 8);
  header.writeBigUInt64LE(BigInt(base), 24);
  header.writeUInt32LE(crc32(header.subarray(0, 36)), 36);
  return header;
}

/**
 * Throws Fatal `frame_damaged` when this is not the header of that segment, `log_version_newer` when it may
 * be.
 */
export function checkSegmentHeader(header: Buffer, place: SegmentPlace): void {
  if (!isSegmentHeader(header)) {
    throw new Fatal('frame_damaged', `The header of ${place.path} is damaged.`);
  }
  if (header.readUInt16LE(4) > SEGMENT_VERSION) {
    throw new Fatal('log_version_newer', `${place.path} was written by a newer Metergate: start that one.`);
  }
  if (!header.equals(encodeSegmentHeader(place))) {
    throw new Fatal(
      'frame_damaged',
      `${place.path} belongs to another log or another place of this one: restore it from a backup.`,
    );
  }
}

export function isSegmentHeader(header: Buffer): boolean {
  return (
    header.length === SEGMENT_HEADER_BYTES &&
    header.readUInt32LE(0) === SEGMENT_MAGIC &&
    header.readUInt32LE(36) === crc32(header.subarray(0, 36))
  );
}
