import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';
import { rejection, syncOnce, writeAllAt } from './record-file.ts';

/** How far the record file is durable, and what it held then. */
export interface Checkpoint {
  recordCount: number;
  /** Position of the log behind the last of these records. */
  logPosition: number;
  /** CRC-32 over all of them. */
  recordsCrc: number;
}

export interface CheckpointFile {
  /** The newest, or undefined while none was ever written. */
  readonly latest: Checkpoint | undefined;
  /** Returns when it is durable. One at a time. */
  write(checkpoint: Checkpoint): Promise<void>;
  close(): Promise<void>;
}

export const NO_RECORDS: Checkpoint = { recordCount: 0, logPosition: 0, recordsCrc: 0 };

/**
 * Two places, written by turns, each in a disk block of its own: a power cut can tear the one that is
 * written, and the other still holds. Little-endian:
 *
 *   0  u32  magic 'MGKC'           8 u64  sequence            24 u64  log position
 *   4  u16  version               16 u64  record count        32 u32  CRC-32 of the records
 *   6  u16  zero                                              36 u32  CRC-32 of bytes 0…35
 */
const PLACE_BYTES = 40;
const PLACE_DISTANCE = 4096;
const CHECKPOINT_MAGIC = 0x434b474d;
const CHECKPOINT_VERSION = 1;

/**
 * Throws Fatal `record_file_damaged` when neither place can be read, `record_file_newer` for a newer version.
 */
export async function openCheckpointFile(path: string): Promise<CheckpointFile> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const content = await file.readFile();
  const places = [0, PLACE_DISTANCE].flatMap((at) => readPlace(content.subarray(at, at + PLACE_BYTES)) ?? []);
  const newest = places.sort((a, b) => b.sequence - a.sequence)[0];
  try {
    // Zeros are what a power cut during the very first write leaves: no checkpoint was ever there.
    if (content.some((byte) => byte !== 0)) checkReadable(path, newest);
  } catch (error) {
    await file.close();
    throw error;
  }
  return checkpointFile(path, file, newest);
}

interface Place extends Checkpoint {
  version: number;
  sequence: number;
}

function checkpointFile(path: string, file: FileHandle, newest: Place | undefined): CheckpointFile {
  let sequence = newest?.sequence ?? 0;
  return {
    latest: newest,
    async write(checkpoint) {
      // Again in the same place when it fails: the other one is the last that holds.
      const next = sequence + 1;
      await writeAllAt(file, encodePlace(checkpoint, next), (next % 2) * PLACE_DISTANCE);
      await syncOnce(path, () => file.sync());
      sequence = next;
    },
    close: () => file.close(),
  };
}

function checkReadable(path: string, newest: Place | undefined): void {
  if (!newest) throw rejection('record_file_damaged', path, 'holds no readable checkpoint');
  if (newest.version <= CHECKPOINT_VERSION) return;
  throw new Fatal('record_file_newer', `${path} was written by a newer Metergate: start that one.`);
}

function readPlace(bytes: Buffer): Place | undefined {
  const isPlace = bytes.length === PLACE_BYTES && bytes.readUInt32LE(0) === CHECKPOINT_MAGIC;
  if (!isPlace || crc32(bytes.subarray(0, 36)) !== bytes.readUInt32LE(36)) return undefined;
  return {
    version: bytes.readUInt16LE(4),
    sequence: Number(bytes.readBigUInt64LE(8)),
    recordCount: Number(bytes.readBigUInt64LE(16)),
    logPosition: Number(bytes.readBigUInt64LE(24)),
    recordsCrc: bytes.readUInt32LE(32),
  };
}

function encodePlace({ recordCount, logPosition, recordsCrc }: Checkpoint, sequence: number): Buffer {
  const bytes = Buffer.alloc(PLACE_BYTES);
  bytes.writeUInt32LE(CHECKPOINT_MAGIC, 0);
  bytes.writeUInt16LE(CHECKPOINT_VERSION, 4);
  bytes.writeBigUInt64LE(BigInt(sequence), 8);
  bytes.writeBigUInt64LE(BigInt(recordCount), 16);
  bytes.writeBigUInt64LE(BigInt(logPosition), 24);
  bytes.writeUInt32LE(recordsCrc, 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 36)), 36);
  return bytes;
}
