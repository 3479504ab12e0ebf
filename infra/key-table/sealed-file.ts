import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { Fatal } from '../../schemas/failures.ts';
import { RECORD_BYTES } from '../../schemas/stored/record.ts';
import { checkOwner, newerRelease, type RecordOwner, rejection } from './key-files.ts';

/**
 * Keys that change no more, in groups by the first bits of their ids, about 64 each; 38.2 B per key.
 * Little-endian:
 *
 *   0  u32  magic 'MGKS'      8 u32  keys           16 16B  identity check   48 u32  CRC-32 of the index
 *   4  u16  version          12 u8   bucket bits    32 16B  log id           52 u32  CRC-32 of bytes 0…51
 *   6  u16  zero             13 u8   low bits
 *                            14 u16  1: wide
 *
 * then the index: for each key an entry of 3 B, then for each group, and behind the last, the number of its
 * first key (u32), then the groups: a CRC-32 of what follows, and the records. A bucket is the first `bucket
 * bits` of the first word of an id, a group all buckets that differ in their `low bits` alone; an entry is
 * those low bits (u8) and the tag (the low half of the second word). A record lacks the highest byte of the
 * first word, which its bucket says, and has both times as 48 bits (35 B), or in a wide file as they are (39
 * B). A start reads entries and starts, not the records.
 */
export interface SealedFile {
  path: string;
  file: FileHandle;
  /** Part of its name. */
  number: number;
  shape: SealedShape;
  /** Of each group, and behind the last. */
  starts: Uint32Array;
}

export interface SealedShape {
  keyCount: number;
  bucketBits: number;
  lowBits: number;
  isWide: boolean;
}

export const SEALED_HEADER_BYTES = 56;
export const ENTRY_BYTES = 3;
export const CRC_BYTES = 4;
const SEALED_MAGIC = 0x534b474d;
const SEALED_VERSION = 1;
const GROUP_KEYS = 64;
const LOW_BITS_MAX = 8;
/** Of an id, but for the highest byte of its first word. */
const ID_BYTES_STORED = 15;
const READ_BYTES = 1024 * 1024;

export function shapeOf(keyCount: number, bucketBits: number, isWide: boolean): SealedShape {
  const groupBits = Math.floor(Math.log2(Math.max(1, keyCount / GROUP_KEYS)));
  const lowBits = Math.min(LOW_BITS_MAX, Math.max(0, bucketBits - groupBits));
  return { keyCount, bucketBits, lowBits, isWide };
}

export function groupCount({ bucketBits, lowBits }: SealedShape): number {
  return 2 ** (bucketBits - lowBits);
}

export function recordBytes({ isWide }: SealedShape): number {
  return isWide ? 39 : 35;
}

export function startsOffset({ keyCount }: SealedShape): number {
  return SEALED_HEADER_BYTES + keyCount * ENTRY_BYTES;
}

/** Where a group begins, with so many keys in the groups before it. */
export function groupOffset(shape: SealedShape, group: number, keysBefore: number): number {
  const groupsAt = startsOffset(shape) + (groupCount(shape) + 1) * 4;
  return groupsAt + group * CRC_BYTES + keysBefore * recordBytes(shape);
}

export function sealedBytes(shape: SealedShape): number {
  return groupOffset(shape, groupCount(shape), shape.keyCount);
}

export function sealedPath(directory: string, number: number): string {
  return join(directory, `${String(number).padStart(10, '0')}.sealed`);
}

/** The number in a file's name; undefined for other files. */
export function sealedNumber(name: string): number | undefined {
  const digits = /^(\d{10})\.sealed$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function encodeSealedHeader(shape: SealedShape, owner: RecordOwner, indexCrc: number): Buffer {
  const header = Buffer.alloc(SEALED_HEADER_BYTES);
  header.writeUInt32LE(SEALED_MAGIC, 0);
  header.writeUInt16LE(SEALED_VERSION, 4);
  header.writeUInt32LE(shape.keyCount, 8);
  header.writeUInt8(shape.bucketBits, 12);
  header.writeUInt8(shape.lowBits, 13);
  header.writeUInt16LE(shape.isWide ? 1 : 0, 14);
  header.set(owner.identityCheck, 16);
  header.set(owner.logId, 32);
  header.writeUInt32LE(indexCrc, 48);
  header.writeUInt32LE(crc32(header.subarray(0, 52)), 52);
  return header;
}

/**
 * Throws Fatal when it is not what was sealed: `record_file_truncated`, `record_file_damaged`,
 * `record_file_newer`, `identity_key_mismatch`, `record_file_foreign`. The records are not read.
 */
export async function openSealedFile(
  directory: string,
  number: number,
  owner: RecordOwner,
): Promise<SealedFile> {
  const path = sealedPath(directory, number);
  const file = await open(path, 'r');
  try {
    const header = readNow({ path, file }, 0, SEALED_HEADER_BYTES);
    // mutant: record-file-unchecked
    checkHeader(path, header, owner);
    const shape = decodeShape(header);
    const { size } = await file.stat();
    const sizeWanted = sealedBytes(shape);
    if (size < sizeWanted) {
      const why = `has ${size} bytes where its header promises ${sizeWanted}`;
      throw rejection('record_file_truncated', path, why);
    }
    checkIndex({ path, file }, shape, header.readUInt32LE(48));
    const starts = readNow({ path, file }, startsOffset(shape), (groupCount(shape) + 1) * 4);
    return { path, file, number, shape, starts: new Uint32Array(new Uint8Array(starts).buffer) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function checkHeader(path: string, header: Buffer, owner: RecordOwner): void {
  const holds = crc32(header.subarray(0, 52)) === header.readUInt32LE(52);
  if (!holds || header.readUInt32LE(0) !== SEALED_MAGIC) {
    throw rejection('record_file_damaged', path, 'has a damaged header');
  }
  if (header.readUInt16LE(4) > SEALED_VERSION) throw newerRelease(path);
  checkOwner(path, owner, { identityCheck: header.subarray(16, 32), logId: header.subarray(32, 48) });
}

function decodeShape(header: Buffer): SealedShape {
  return {
    keyCount: header.readUInt32LE(8),
    bucketBits: header.readUInt8(12),
    lowBits: header.readUInt8(13),
    isWide: header.readUInt16LE(14) === 1,
  };
}

function checkIndex(from: Pick<SealedFile, 'path' | 'file'>, shape: SealedShape, expected: number): void {
  const end = groupOffset(shape, 0, 0);
  let crc = 0;
  for (let at = SEALED_HEADER_BYTES; at < end; at += READ_BYTES) {
    crc = crc32(readNow(from, at, Math.min(READ_BYTES, end - at)), crc);
  }
  if (crc !== expected) throw rejection('record_file_damaged', from.path, 'fails its checksum');
}

/** Throws Fatal `record_file_truncated`, and what a read throws: `EBADF` once the file is closed. */
export async function readAt({ file, path }: SealedFile, at: number, length: number): Promise<Buffer> {
  const into = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(into, filled, length - filled, at + filled);
    if (bytesRead === 0) throw rejection('record_file_truncated', path, 'has become shorter');
    filled += bytesRead;
  }
  return into;
}

/** Reads in this turn. Throws Fatal `record_file_unreadable` or `record_file_truncated`. */
export function readNow(from: Pick<SealedFile, 'path' | 'file'>, at: number, bytes: number): Buffer {
  const into = Buffer.allocUnsafe(bytes);
  readIntoNow(from, at, into);
  return into;
}

export function readIntoNow(
  { path, file }: Pick<SealedFile, 'path' | 'file'>,
  at: number,
  into: Uint8Array,
): void {
  try {
    for (let filled = 0; filled < into.length; ) {
      const read = readSync(file.fd, into, filled, into.length - filled, at + filled);
      if (read === 0) throw rejection('record_file_truncated', path, 'has become shorter');
      filled += read;
    }
  } catch (cause) {
    if (cause instanceof Fatal) throw cause;
    throw new Fatal('record_file_unreadable', `${path} cannot be read.`, { cause });
  }
}

/** Records that are read together. */
export interface GroupPlace {
  file: SealedFile;
  at: number;
  bytes: number;
}

/** That of an id. */
export function groupOf(file: SealedFile, firstWord: number): GroupPlace {
  const { shape, starts } = file;
  const group = firstWord >>> (32 - (shape.bucketBits - shape.lowBits));
  const [first = 0, end = 0] = [starts[group], starts[group + 1]];
  return {
    file,
    at: groupOffset(shape, group, first),
    bytes: CRC_BYTES + (end - first) * recordBytes(shape),
  };
}

/** Throws Fatal `record_file_damaged`. */
export function checkGroup(path: string, group: Buffer): void {
  if (crc32(group.subarray(CRC_BYTES)) === group.readUInt32LE(0)) return;
  throw rejection('record_file_damaged', path, 'fails a checksum of its records');
}

/** The whole record with this id (16 B) in the bytes of its group, or undefined. */
export function recordIn({ path, shape }: SealedFile, group: Buffer, id: Buffer): Buffer | undefined {
  checkGroup(path, group);
  const wanted = Buffer.concat([id.subarray(0, 3), id.subarray(4, 16)]);
  const size = recordBytes(shape);
  for (let at = CRC_BYTES; at < group.length; at += size) {
    if (wanted.compare(group, at, at + ID_BYTES_STORED) !== 0) continue;
    return wholeRecord(group.subarray(at, at + size), id, shape);
  }
  return undefined;
}

function wholeRecord(packed: Buffer, id: Buffer, { isWide }: SealedShape): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  id.copy(record);
  packed.copy(record, 16, ID_BYTES_STORED);
  if (isWide) return record;
  record.writeDoubleLE(packed.readUIntLE(23, 6), 24);
  record.writeDoubleLE(packed.readUIntLE(29, 6), 32);
  return record;
}
