/**
 * The record of an event: what a frame and the key table keep of it, 40 B, little-endian.
 *
 *   byte  word  f64
 *    0    0..3        id: a keyed hash of the idempotency key
 *   16    4..5        fingerprint: a keyed hash of the event's content
 *   24    6..7    3   occurredAt, ms since 1970
 *   32    8..9    4   createdAt, ms since 1970
 *
 * This file alone knows these places. Records in arrays of words are named by their number; a function that
 * takes a `word` accepts a record at any place. Where bytes are read the place is in bytes.
 */

import { base32 } from '../primitives/ids.ts';

export const RECORD_BYTES = 40;
export const RECORD_WORDS = RECORD_BYTES / 4;
export const ID_BYTES = 16;
export const ID_WORDS = ID_BYTES / 4;
/** Id and fingerprint: they show whether two events are the same. */
export const IDENTITY_WORDS = 6;

const FINGERPRINT_BYTE = 16;
const TIMES_BYTE = 24;
export const TIMES_BYTES = 16;
const TIMES_WORD = TIMES_BYTE / 4;
const RECORD_F64S = RECORD_BYTES / 8;
const OCCURRED_AT_F64 = 3;
const CREATED_AT_F64 = 4;
const LAST_ID_WORD = 3;

/** `times` is the buffer of the records as f64. */
export function occurredAtMs(times: Float64Array, record: number): number {
  return times[record * RECORD_F64S + OCCURRED_AT_F64] ?? 0;
}

export function createdAtMs(times: Float64Array, record: number): number {
  return times[record * RECORD_F64S + CREATED_AT_F64] ?? 0;
}

export function setTimes(times: Float64Array, record: number, occurredMs: number, createdMs: number): void {
  times[record * RECORD_F64S + OCCURRED_AT_F64] = occurredMs;
  times[record * RECORD_F64S + CREATED_AT_F64] = createdMs;
}

/** Decides the event's partition (schemas/primitives/partition-of.ts). */
export function lastIdWord(records: Uint32Array, record: number): number {
  return records[record * RECORD_WORDS + LAST_ID_WORD] ?? 0;
}

/** All 128 bits. */
export function hasSameId(a: Uint32Array, aWord: number, b: Uint32Array, bWord: number): boolean {
  return (
    a[aWord] === b[bWord] &&
    a[aWord + 1] === b[bWord + 1] &&
    a[aWord + 2] === b[bWord + 2] &&
    a[aWord + 3] === b[bWord + 3]
  );
}

/** A loop: a subarray of ten words costs more than copying them. */
export function copyRecord(from: Uint32Array, fromWord: number, to: Uint32Array, toWord: number): void {
  for (let word = 0; word < RECORD_WORDS; word++) to[toWord + word] = from[fromWord + word] as number;
}

export function copyTimes(from: Uint32Array, fromWord: number, to: Uint32Array, toWord: number): void {
  for (let word = TIMES_WORD; word < RECORD_WORDS; word++)
    to[toWord + word] = from[fromWord + word] as number;
}

/** Where the times of a record begin in bytes that contain records: {@link TIMES_BYTES}. */
export function timesByte(record: number): number {
  return record * RECORD_BYTES + TIMES_BYTE;
}

/** Where its id begins in bytes that contain records. */
export function idByte(record: number): number {
  return record * RECORD_BYTES;
}

/** The 16 bytes of its id; a view. */
export function idOf(records: Uint8Array, record: number): Uint8Array {
  return records.subarray(record * RECORD_BYTES, record * RECORD_BYTES + ID_BYTES);
}

export function fingerprintOf(records: Buffer, record: number): bigint {
  return records.readBigUInt64LE(record * RECORD_BYTES + FINGERPRINT_BYTE);
}

/** Of each record, as clients see it. */
export function eventIdsOf(records: Uint8Array): string[] {
  const count = records.length / RECORD_BYTES;
  return Array.from({ length: count }, (_, record) => `use_${base32(idOf(records, record))}`);
}

export function readTimes(records: Buffer, record: number): { occurredAtMs: number; createdAtMs: number } {
  const at = timesByte(record);
  return { occurredAtMs: records.readDoubleLE(at), createdAtMs: records.readDoubleLE(at + 8) };
}

export function writeRecord(record: {
  id: Uint8Array;
  fingerprint?: bigint;
  occurredAtMs: number;
  createdAtMs: number;
}): Buffer {
  const bytes = Buffer.alloc(RECORD_BYTES);
  bytes.set(record.id);
  bytes.writeBigUInt64LE(record.fingerprint ?? 0n, FINGERPRINT_BYTE);
  bytes.writeDoubleLE(record.occurredAtMs, TIMES_BYTE);
  bytes.writeDoubleLE(record.createdAtMs, TIMES_BYTE + 8);
  return bytes;
}

/** A copy as words: records begin at any byte of a frame, words do not. */
export function wordsOf(records: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(records).buffer);
}
