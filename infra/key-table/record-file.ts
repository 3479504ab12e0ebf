import { constants, readSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { syncDirectory } from '../platform/durable-file.ts';

/**
 * The records of all keys in the order of the log, 40 B each (schemas/stored/record.ts), behind a header;
 * little-endian:
 *
 *   0  u32  magic 'MGKR'        24 16B  log id
 *   4  u16  version             40 u32  zero
 *   6  u16  zero                44 u32  CRC-32 of bytes 0…43
 *   8  16B  identity check
 *
 * It is written after the response. The checkpoint states how much of it counts; the rest comes from the log.
 */
export interface RecordFile {
  path: string;
  file: FileHandle;
}

/** Whose records they are. 16 bytes each. */
export interface RecordOwner {
  identityCheck: Uint8Array;
  logId: Uint8Array;
}

export const RECORD_HEADER_BYTES = 48;
const RECORD_MAGIC = 0x524b474d;
const RECORD_VERSION = 1;
const CREATE = constants.O_CREAT | constants.O_TRUNC;

/** Opens it as it is. */
export async function openRecordFile(path: string): Promise<RecordFile> {
  return { path, file: await open(path, constants.O_RDWR) };
}

/** Begins a file without records next to the one that may exist at `path`. */
export async function createRecordFile(path: string): Promise<RecordFile> {
  return { path, file: await open(unfinished(path), constants.O_RDWR | CREATE, 0o600) };
}

/** Removes the file that was begun next to it. */
export function removeUnfinished({ path }: RecordFile): void {
  rmSync(unfinished(path), { force: true });
}

/** Durable with the next sync of the file. */
export function writeHeader({ file }: RecordFile, owner: RecordOwner): Promise<void> {
  return writeAllAt(file, encodeHeader(owner), 0);
}

/**
 * Moves a new file into its place, between two states that promise nothing of the other one: `promise` makes
 * it durable and writes its checkpoint. A crash leaves a checkpoint without a record file, and the file is
 * created again; with the old file still there, or the new one first, a checkpoint would be of the other.
 */
export async function placeRecordFile({ path }: RecordFile, promise: () => Promise<void>): Promise<void> {
  rmSync(path, { force: true });
  syncDirectory(dirname(path));
  await promise();
  renameSync(unfinished(path), path);
  syncDirectory(dirname(path));
}

function unfinished(path: string): string {
  return `${path}.new`;
}

/**
 * Throws Fatal, and changes nothing, when the file cannot be what the checkpoint states:
 * `record_file_truncated`, `record_file_damaged`, `record_file_newer`, `identity_key_mismatch`,
 * `record_file_foreign` (of another log).
 */
export async function checkRecordFile(
  { path, file }: RecordFile,
  owner: RecordOwner,
  recordCount: number,
): Promise<void> {
  const { size } = await file.stat();
  const sizeMin = RECORD_HEADER_BYTES + recordCount * RECORD_BYTES;
  if (size < sizeMin) {
    throw rejection(
      'record_file_truncated',
      path,
      `has ${size} bytes where its checkpoint promises ${sizeMin}`,
    );
  }
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  await file.read(header, 0, RECORD_HEADER_BYTES, 0);
  const holds = crc32(header.subarray(0, 44)) === header.readUInt32LE(44);
  if (!holds || header.readUInt32LE(0) !== RECORD_MAGIC) {
    throw rejection('record_file_damaged', path, 'has a damaged header');
  }
  if (header.readUInt16LE(4) > RECORD_VERSION) {
    throw new Fatal('record_file_newer', `${path} was written by a newer Metergate: start that one.`);
  }
  if (!header.subarray(8, 24).equals(owner.identityCheck)) {
    throw new Fatal(
      'identity_key_mismatch',
      `${path} was written under another identity key: database and keys must be of one installation.`,
    );
  }
  // mutant: log-id-unchecked
  if (!header.subarray(24, 40).equals(owner.logId)) {
    throw rejection('record_file_foreign', path, 'belongs to another log');
  }
}

/** The message for an operator when the key table's files cannot be trusted. */
export function rejection(code: string, path: string, why: string): Fatal {
  return new Fatal(
    code,
    `${path} ${why}. Restore it, or move its folder: it is then rebuilt from the log and the warehouse.`,
  );
}

/** Reads one record in the same turn: about 2 µs from the page cache, and the decision must not await. */
export function readRecordNow({ path, file }: RecordFile, record: number, into: Uint32Array): void {
  try {
    if (readSync(file.fd, into, 0, RECORD_BYTES, offsetOf(record)) === RECORD_BYTES) return;
  } catch (cause) {
    throw new Fatal('record_file_unreadable', `${path} cannot be read.`, { cause });
  }
  throw rejection('record_file_truncated', path, `has become shorter than record ${record}`);
}

export async function writeAllAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

/**
 * A sync that fails is never tried again, not even for a full disk: the system reports once that it lost
 * written data, and the next sync of the same file succeeds without it. Throws Fatal.
 */
export async function syncOnce(path: string, sync: () => Promise<void>): Promise<void> {
  await sync().catch((cause: unknown) => {
    // mutant: failed-sync-tried-again
    throw new Fatal('record_file_write_failed', `${path} cannot be made durable.`, { cause });
  });
}

export function offsetOf(record: number): number {
  return RECORD_HEADER_BYTES + record * RECORD_BYTES;
}

function encodeHeader({ identityCheck, logId }: RecordOwner): Buffer {
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  header.writeUInt32LE(RECORD_MAGIC, 0);
  header.writeUInt16LE(RECORD_VERSION, 4);
  header.set(identityCheck, 8);
  header.set(logId, 24);
  header.writeUInt32LE(crc32(header.subarray(0, 44)), 44);
  return header;
}
