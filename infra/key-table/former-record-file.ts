import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES, RECORD_WORDS } from '../../schemas/stored/record.ts';
import { checkOwner, newerRelease, type RecordOwner, rejection } from './key-files.ts';

/**
 * The keys of the release before: records in the order of the log, 40 B each (schemas/stored/record.ts),
 * behind a header; little-endian:
 *
 *   0  u32  magic 'MGKR'        24 16B  log id
 *   4  u16  version, 1          40 u32  zero
 *   6  u16  zero                44 u32  CRC-32 of bytes 0…43
 *   8  16B  identity check
 */
export interface RecordFile {
  path: string;
  file: FileHandle;
}

export const RECORD_HEADER_BYTES = 48;
const RECORD_MAGIC = 0x524b474d;
const RECORD_VERSION = 1;

/**
 * Throws Fatal, and changes nothing, when the file cannot be what its checkpoint states:
 * `record_file_truncated`, `record_file_damaged`, `record_file_newer`, `identity_key_mismatch`,
 * `record_file_foreign` (of another log).
 */
export async function openRecordFile(
  path: string,
  owner: RecordOwner,
  recordCount: number,
): Promise<RecordFile> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const sizeMin = offsetOf(recordCount);
    if (size < sizeMin) {
      const why = `has ${size} bytes where its checkpoint promises ${sizeMin}`;
      throw rejection('record_file_truncated', path, why);
    }
    await checkHeader({ path, file }, owner);
    return { path, file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function checkHeader({ path, file }: RecordFile, owner: RecordOwner): Promise<void> {
  const header = Buffer.alloc(RECORD_HEADER_BYTES);
  await file.read(header, 0, RECORD_HEADER_BYTES, 0);
  const holds = crc32(header.subarray(0, 44)) === header.readUInt32LE(44);
  if (!holds || header.readUInt32LE(0) !== RECORD_MAGIC) {
    throw rejection('record_file_damaged', path, 'has a damaged header');
  }
  if (header.readUInt16LE(4) > RECORD_VERSION) throw newerRelease(path);
  checkOwner(path, owner, { identityCheck: header.subarray(8, 24), logId: header.subarray(24, 40) });
}

/** Reads one record in the same turn: about 2 µs from the page cache. */
export function readRecordNow({ path, file }: RecordFile, record: number, into: Uint32Array): void {
  try {
    if (readSync(file.fd, into, 0, RECORD_BYTES, offsetOf(record)) === RECORD_BYTES) return;
  } catch (cause) {
    throw new Fatal('record_file_unreadable', `${path} cannot be read.`, { cause });
  }
  throw rejection('record_file_truncated', path, `has become shorter than record ${record}`);
}

/** Fills `words` with records from `first` on. */
async function readRecords(
  { path, file }: RecordFile,
  first: number,
  words: Uint32Array,
): Promise<Uint32Array> {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  for (let filled = 0; filled < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offsetOf(first) + filled);
    if (bytesRead === 0) throw rejection('record_file_truncated', path, 'ends while it is read');
    filled += bytesRead;
  }
  return words;
}

/** 4 MB at a time. */
const CHUNK_RECORDS = 100_000;

/**
 * The records from `from` up to `to`, in pieces: one is read while the previous one is processed, and each is
 * valid until the next but one is requested.
 */
export async function* recordsBetween(
  file: RecordFile,
  from: number,
  to: number,
): AsyncGenerator<Uint32Array> {
  const size = Math.min(CHUNK_RECORDS, to - from) * RECORD_WORDS;
  const [first, second] = [new Uint32Array(size), new Uint32Array(size)];
  const read = (record: number, into: Uint32Array) =>
    readRecords(file, record, into.subarray(0, (to - record) * RECORD_WORDS));
  let into = first;
  let reading = from < to ? read(from, into) : undefined;
  for (let record = from + CHUNK_RECORDS; reading; record += CHUNK_RECORDS) {
    const words = await reading;
    into = into === first ? second : first;
    reading = record < to ? read(record, into) : undefined;
    // A caller that stops early needs no more records, or fails already.
    reading?.catch(() => undefined);
    yield words;
  }
}

function offsetOf(record: number): number {
  return RECORD_HEADER_BYTES + record * RECORD_BYTES;
}
