import { crc32 } from 'node:zlib';
import { rejection } from './key-files.ts';

/** How far the record file of the release before is durable, and what it held then. */
export interface Checkpoint {
  recordCount: number;
  /** Position of the log behind the last of these records. */
  logPosition: number;
  /** CRC-32 over all of them. */
  recordsCrc: number;
}

/**
 * Two places, written by turns, each in a disk block of its own: a power cut can tear the one that is
 * written, and the other still holds. Little-endian:
 *
 *   0  u32  magic 'MGKC'           8 u64  sequence            24 u64  log position
 *   4  u16  version, 1            16 u64  record count        32 u32  CRC-32 of the records
 *   6  u16  zero                                              36 u32  CRC-32 of bytes 0…35
 */
const PLACE_BYTES = 40;
const PLACE_DISTANCE = 4096;
const CHECKPOINT_MAGIC = 0x434b474d;

/**
 * The newest; undefined where none was ever written. Throws Fatal `record_file_damaged` when neither place
 * can be read.
 */
export function readCheckpoint(path: string, content: Buffer): Checkpoint | undefined {
  // Zeros are what a power cut during the very first write leaves: no checkpoint was ever there.
  if (content.every((byte) => byte === 0)) return undefined;
  const places = [0, PLACE_DISTANCE].flatMap((at) => readPlace(content.subarray(at, at + PLACE_BYTES)) ?? []);
  const newest = places.sort((a, b) => b.sequence - a.sequence)[0];
  if (!newest) throw rejection('record_file_damaged', path, 'holds no readable checkpoint');
  const { recordCount, logPosition, recordsCrc } = newest;
  return { recordCount, logPosition, recordsCrc };
}

function readPlace(bytes: Buffer): (Checkpoint & { sequence: number }) | undefined {
  const isPlace = bytes.length === PLACE_BYTES && bytes.readUInt32LE(0) === CHECKPOINT_MAGIC;
  if (!isPlace || crc32(bytes.subarray(0, 36)) !== bytes.readUInt32LE(36)) return undefined;
  return {
    sequence: Number(bytes.readBigUInt64LE(8)),
    recordCount: Number(bytes.readBigUInt64LE(16)),
    logPosition: Number(bytes.readBigUInt64LE(24)),
    recordsCrc: bytes.readUInt32LE(32),
  };
}
