// Makes groups of a sealed file (../sealed-file.ts) of records: first records are collected, of a generation
// or of groups of other files, then they are put in order of their groups and shortened.

import { copyBetween } from './generations';
import { bucketOf } from './index-places';
import { bucketBits, RECORD_BYTES, take } from './places';

/** Records of one turn. */
export const MILL_KEYS_MAX: u32 = 65536;
const GROUPS_MAX: u32 = 65536;
const INPUT_BYTES: u32 = 4 * 1024 * 1024;
const CRC_BYTES: u32 = 4;

/** Without the first byte of the id, which follows from the group. Times in narrow ones take 6 bytes each. */
const NARROW_BYTES: u32 = 35;
const WIDE_BYTES: u32 = 39;
const WORD_MASK: u32 = 0x00ff_ffff;
const TIME_MASK: u64 = 0xffff_ffff_ffff;

let records: usize = 0;
let starts: usize = 0;
let entries: usize = 0;
let packed: usize = 0;
let input: usize = 0;
let count: u32 = 0;

/** Returns 0 when there is no memory. Room for another file's groups is at the returned place. */
export function beginMill(): u32 {
  count = 0;
  return reserveMill();
}

export function reserveMill(): u32 {
  if (input != 0) return <u32>input;
  records = take(<usize>MILL_KEYS_MAX * RECORD_BYTES);
  starts = take((<usize>GROUPS_MAX + 2) * 4);
  entries = take(<usize>MILL_KEYS_MAX * 3);
  packed = take(<usize>MILL_KEYS_MAX * WIDE_BYTES + <usize>GROUPS_MAX * CRC_BYTES);
  if (records == 0 || starts == 0 || entries == 0 || packed == 0) return 0;
  input = take(INPUT_BYTES);
  return <u32>input;
}

export function inputBytesMax(): u32 {
  return INPUT_BYTES;
}

export function startsAt(): u32 {
  return <u32>starts;
}

export function entriesAt(): u32 {
  return <u32>entries;
}

export function packedAt(): u32 {
  return <u32>packed;
}

/** Room that is used between two turns only. */
export function scratchAt(): u32 {
  return <u32>records;
}

export function scratchBytes(): u32 {
  return MILL_KEYS_MAX * RECORD_BYTES;
}

/** Adds the records of a generation whose home is in [from, to). */
export function collect(generation: i32, from: u32, to: u32): u32 {
  const into = records + <usize>count * RECORD_BYTES;
  count += copyBetween(generation, from, to, into, MILL_KEYS_MAX - count, packed);
  return count;
}

/**
 * Adds the records of groups of a file. `from` holds one start more than groups, then the entries, then the
 * groups as they are in the file.
 */
export function unpack(firstBucket: u32, lowBits: u32, groups: u32, from: usize, wide: i32): u32 {
  const first = load<u32>(from);
  const keys = load<u32>(from + ((<usize>groups) << 2)) - first;
  if (count + keys > MILL_KEYS_MAX) unreachable();
  let entry = from + ((<usize>groups + 1) << 2);
  let record = entry + <usize>keys * 3;
  for (let group: u32 = 0; group < groups; group++) {
    const size = load<u32>(from + ((<usize>group) << 2), 4) - load<u32>(from + ((<usize>group) << 2));
    const bucket = firstBucket + (group << lowBits);
    record += CRC_BYTES;
    for (let key: u32 = 0; key < size; key++, entry += 3) {
      unpackRecord(
        firstByteOf(bucket + load<u8>(entry)),
        record,
        wide,
        records + <usize>count * RECORD_BYTES,
      );
      record += wide ? WIDE_BYTES : NARROW_BYTES;
      count++;
    }
  }
  return count;
}

function firstByteOf(bucket: u32): u32 {
  return bucket >> (bucketBits - 8);
}

function unpackRecord(firstByte: u32, from: usize, wide: i32, to: usize): void {
  store<u32>(to, (load<u32>(from) & WORD_MASK) | (firstByte << 24));
  store<u64>(to, load<u64>(from, 3), 4);
  store<u32>(to, load<u32>(from, 11), 12);
  store<u64>(to, load<u64>(from, 15), 16);
  if (wide) {
    v128.store(to, v128.load(from, 23), 24);
    return;
  }
  store<f64>(to, <f64>(load<u64>(from, 23) & TIME_MASK), 24);
  store<f64>(to, <f64>(<u64>load<u32>(from, 29) | ((<u64>load<u16>(from, 33)) << 32)), 32);
}

function packRecord(from: usize, wide: i32, to: usize): void {
  store<u32>(to, load<u32>(from));
  store<u64>(to, load<u64>(from, 4), 3);
  store<u32>(to, load<u32>(from, 12), 11);
  store<u64>(to, load<u64>(from, 16), 15);
  if (wide) {
    v128.store(to, v128.load(from, 24), 23);
    return;
  }
  store<u64>(to, <u64>load<f64>(from, 24), 23);
  const created = <u64>load<f64>(from, 32);
  store<u32>(to, <u32>created, 29);
  store<u16>(to, <u16>(created >> 32), 33);
}

/**
 * Puts the collected records in groups. At `startsAt` are the first record of each group, counted from 0, and
 * their number at the end; at `entriesAt` the low bits of the bucket and the tag of each; at `packedAt` the
 * groups, each behind 4 bytes for its checksum. Returns the bytes of these.
 */
export function group(firstBucket: u32, lowBits: u32, groups: u32, wide: i32): u32 {
  if (groups > GROUPS_MAX) unreachable();
  const recordBytes = wide ? WIDE_BYTES : NARROW_BYTES;
  memory.fill(starts, 0, (<usize>groups + 2) << 2);
  // Two places on: a group's count becomes its start, then, record by record, the start of the next one.
  for (let record: u32 = 0; record < count; record++) {
    const at = starts + ((<usize>(groupOf(record, firstBucket, lowBits) + 2)) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  for (let at: u32 = 1; at <= groups + 1; at++) {
    const place = starts + ((<usize>at) << 2);
    store<u32>(place, load<u32>(place) + load<u32>(place - 4));
  }
  for (let record: u32 = 0; record < count; record++) {
    const from = records + <usize>record * RECORD_BYTES;
    const inGroup = groupOf(record, firstBucket, lowBits);
    const next = starts + ((<usize>(inGroup + 1)) << 2);
    const place = load<u32>(next);
    store<u32>(next, place + 1);
    const entry = entries + <usize>place * 3;
    store<u8>(entry, <u8>((bucketOf(load<u32>(from)) - firstBucket) & ((1 << lowBits) - 1)));
    store<u16>(entry, load<u16>(from, 4), 1);
    packRecord(from, wide, packed + <usize>place * recordBytes + <usize>(inGroup + 1) * CRC_BYTES);
  }
  return count * recordBytes + groups * CRC_BYTES;
}

function groupOf(record: u32, firstBucket: u32, lowBits: u32): u32 {
  return (bucketOf(load<u32>(records + <usize>record * RECORD_BYTES)) - firstBucket) >> lowBits;
}
