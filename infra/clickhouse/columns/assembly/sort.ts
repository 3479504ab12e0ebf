import { namesCount } from './names';
import {
  COUNTS,
  DIGIT_BITS,
  KEY_BYTES,
  KEY_ROW,
  KEYS,
  NAMES,
  NAMES_BYTES,
  NAMES_RANK,
  ROW_BYTES,
  ROW_ID,
  ROW_NAMES,
  ROW_OCCURRED,
  ROWS,
  SPARE_KEYS,
} from './places';
import { rowCount } from './rows';
import { order } from './texts';

export const HOUR_MS: i64 = 3_600_000;
/** So many bits of the ids tell nearly all apart that have names and hour in common. */
const ID_BITS_MIN: i32 = 20;
/** Of the eight characters behind `use_`. */
const ID_BITS_MAX: i32 = 40;
const ID_PREFIX_BYTES: i32 = 4;
const ID_TEXT_BYTES: i32 = 26;

/** Where the sorted keys are. */
let sorted: i32 = 0;

export function rowAt(place: i32): i32 {
  return ROWS + load<i32>(sorted + place * KEY_BYTES + KEY_ROW) * ROW_BYTES;
}

/** By names, hour and id; of two rows that have the same the first one stays first. */
export function sortRows(): void {
  const firstHour = hourSpan();
  const hourBits = bitsOf(lastHour - firstHour);
  const ahead = bitsOf(namesCount - 1) + hourBits;
  const digits = (ahead + ID_BITS_MIN + DIGIT_BITS - 1) / DIGIT_BITS;
  const idBits = min(min(ID_BITS_MAX, digits * DIGIT_BITS - ahead), 64 - ahead);
  for (let index = 0; index < rowCount; index++) {
    const row = ROWS + index * ROW_BYTES;
    const rank = <u64>load<i32>(NAMES + load<i32>(row + ROW_NAMES) * NAMES_BYTES + NAMES_RANK);
    const hour = <u64>(hourOf(row) - firstHour);
    const key = (((rank << hourBits) | hour) << idBits) | (idPrefix(row) >> (ID_BITS_MAX - idBits));
    store<u64>(KEYS + index * KEY_BYTES, key);
    store<i32>(KEYS + index * KEY_BYTES + KEY_ROW, index);
  }
  sorted = KEYS;
  let spare = SPARE_KEYS;
  for (let shift = 0; shift < ahead + idBits; shift += DIGIT_BITS) {
    if (!sortByDigit(sorted, spare, shift)) continue;
    const other = sorted;
    sorted = spare;
    spare = other;
  }
  sortTies();
}

let lastHour: i64 = 0;

function hourSpan(): i64 {
  let first = i64.MAX_VALUE;
  lastHour = i64.MIN_VALUE;
  for (let index = 0; index < rowCount; index++) {
    const hour = hourOf(ROWS + index * ROW_BYTES);
    if (hour < first) first = hour;
    if (hour > lastHour) lastHour = hour;
  }
  return first;
}

/** Since 1970, downwards. */
export function hourOf(row: i32): i64 {
  const occurred = load<i64>(row + ROW_OCCURRED);
  const hour = occurred / HOUR_MS;
  return occurred < 0 && hour * HOUR_MS != occurred ? hour - 1 : hour;
}

function bitsOf(value: i64): i32 {
  return 64 - <i32>clz(value);
}

/** Of an id the order of its text: in base32 figures stand for more than letters, and come before them. */
function idPrefix(row: i32): u64 {
  const id = load<i32>(row + ROW_ID) + ID_PREFIX_BYTES;
  let bits: u64 = 0;
  for (let at = 0; at < 8; at++) {
    const character = <u64>load<u8>(id + at);
    bits = (bits << 5) | (character < 97 ? character - 50 : character - 91);
  }
  return bits;
}

/** False where all keys have the same digit, and nothing was moved. */
function sortByDigit(from: i32, to: i32, shift: i32): bool {
  const mask: u64 = (1 << DIGIT_BITS) - 1;
  memory.fill(COUNTS, 0, 4 << DIGIT_BITS);
  for (let at = from, end = from + rowCount * KEY_BYTES; at < end; at += KEY_BYTES) {
    const count = COUNTS + ((<i32>((load<u64>(at) >> shift) & mask)) << 2);
    store<i32>(count, load<i32>(count) + 1);
  }
  let sum = 0;
  for (let count = COUNTS; count < COUNTS + (4 << DIGIT_BITS); count += 4) {
    const rows = load<i32>(count);
    if (rows == rowCount) return false;
    store<i32>(count, sum);
    sum += rows;
  }
  for (let at = from, end = from + rowCount * KEY_BYTES; at < end; at += KEY_BYTES) {
    const count = COUNTS + ((<i32>((load<u64>(at) >> shift) & mask)) << 2);
    const place = load<i32>(count);
    store<i32>(count, place + 1);
    v128.store(to + place * KEY_BYTES, v128.load(at));
  }
  return true;
}

/** Rows whose leading bits are the same, which are few and behind one another. */
function sortTies(): void {
  for (let place = 1; place < rowCount; place++) {
    for (let at = place; at > 0 && isTieInWrongOrder(at); at--) swapWithBefore(at);
  }
}

function isTieInWrongOrder(place: i32): bool {
  const key = sorted + place * KEY_BYTES;
  if (load<u64>(key) != load<u64>(key - KEY_BYTES)) return false;
  const id = load<i32>(rowAt(place) + ROW_ID) + ID_PREFIX_BYTES;
  const before = load<i32>(rowAt(place - 1) + ROW_ID) + ID_PREFIX_BYTES;
  return order(id, ID_TEXT_BYTES, before, ID_TEXT_BYTES) < 0;
}

function swapWithBefore(place: i32): void {
  const key = sorted + place * KEY_BYTES;
  const kept = v128.load(key);
  v128.store(key, v128.load(key - KEY_BYTES));
  v128.store(key - KEY_BYTES, kept);
}
