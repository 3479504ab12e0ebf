/** What rows of the rollups say of some events: the twin of infra/clickhouse/rollups/tally.ts. */
import { ENTRY_FIRST, ENTRY_SECOND, isNewEntry, pairEntry, textEntry } from './entries';
import {
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  ROW_CREATED,
  ROW_ID,
  ROW_NAMES,
  ROW_OCCURRED,
  ROW_UNIQUE,
  ROW_VALUE,
  TALLY_BYTES,
} from './places';
import { ID_BYTES } from './rows';
import { order } from './texts';

export const TALLY_SUM: i32 = 0; // 16 bytes, modulo 2^128
export const TALLY_EVENTS: i32 = 16;
export const TALLY_FIRST: i32 = 20; // rows: the first one, with the largest value, that came last
export const TALLY_LARGEST: i32 = 24;
export const TALLY_LATEST: i32 = 28;
export const TALLY_UNORDERED: i32 = 32;
export const TALLY_UNIQUE_COUNT: i32 = 36;
const TALLY_UNIQUES: i32 = 40; // a list of pairs (tally, text)
const TALLY_LAST_UNIQUE: i32 = 44;
/** Of a property's value: its entry, 0 of a whole hour; its use, and what follows it in a list. */
export const TALLY_VALUE: i32 = 48;
export const TALLY_USE: i32 = 52;
export const TALLY_NEXT: i32 = 56;

const UNIQUE_NEXT: i32 = 20;

/** First characters of `unique_value` (schemas/stored/event-row.ts). */
const COUNTED: u8 = 61;
const ARRIVAL: u8 = 35;

/** Kinds of entries. */
const UNIQUE_TEXT: i32 = -1;
const UNIQUE_OF_TALLY: i32 = -2;

/** Numbers, indexes and lengths of texts of one row, in any rollup; and an id. */
const ROW_ROOM: i32 = 192;

/** Room that counted texts need in the rollups. */
export let uniqueRoom: i32 = 0;

/** Of the event at hand. */
let hasOrder: bool = false;
let uniqueText: i32 = 0;

export function beginTallies(): void {
  uniqueRoom = 0;
}

function kindOf(row: i32): u8 {
  return load<i32>(row + ROW_UNIQUE + 4) == 0 ? 0 : load<u8>(load<i32>(row + ROW_UNIQUE));
}

/** Whether an event has an order of arrival. */
export function isOrdered(row: i32): bool {
  return kindOf(row) == ARRIVAL;
}

/** All tallies that are begun or added to next are of this event. */
export function setEvent(row: i32): void {
  const at = load<i32>(row + ROW_UNIQUE);
  const bytes = load<i32>(row + ROW_UNIQUE + 4);
  const kind = kindOf(row);
  hasOrder = kind == ARRIVAL;
  uniqueText = kind == COUNTED ? textEntry(UNIQUE_TEXT, at, bytes) : 0;
}

export function beginTally(tally: i32, row: i32): void {
  memory.fill(tally, 0, TALLY_BYTES);
  v128.store(tally, v128.load(row + ROW_VALUE));
  store<i32>(tally + TALLY_EVENTS, 1);
  store<i32>(tally + TALLY_FIRST, row);
  store<i32>(tally + TALLY_LARGEST, row);
  store<i32>(tally + TALLY_LATEST, row);
  addRest(tally);
}

export function addToTally(tally: i32, row: i32): void {
  const low = load<u64>(row + ROW_VALUE);
  const sum = load<u64>(tally) + low;
  store<u64>(tally, sum);
  store<u64>(tally + 8, load<u64>(tally + 8) + load<u64>(row + ROW_VALUE + 8) + <u64>(sum < low));
  store<i32>(tally + TALLY_EVENTS, load<i32>(tally + TALLY_EVENTS) + 1);
  if (isLarger(row, load<i32>(tally + TALLY_LARGEST))) store<i32>(tally + TALLY_LARGEST, row);
  if (isLater(row, load<i32>(tally + TALLY_LATEST))) store<i32>(tally + TALLY_LATEST, row);
  addRest(tally);
}

function addRest(tally: i32): void {
  if (!hasOrder) store<i32>(tally + TALLY_UNORDERED, 1);
  if (uniqueText != 0) addUnique(tally);
}

function isLarger(row: i32, than: i32): bool {
  const high = load<i64>(row + ROW_VALUE + 8);
  const other = load<i64>(than + ROW_VALUE + 8);
  return high == other ? load<u64>(row + ROW_VALUE) > load<u64>(than + ROW_VALUE) : high > other;
}

function isLater(row: i32, than: i32): bool {
  const occurred = load<i64>(row + ROW_OCCURRED);
  const otherOccurred = load<i64>(than + ROW_OCCURRED);
  if (occurred != otherOccurred) return occurred > otherOccurred;
  const created = load<i64>(row + ROW_CREATED);
  const otherCreated = load<i64>(than + ROW_CREATED);
  return created == otherCreated ? orderOfArrivals(row, than) > 0 : created > otherCreated;
}

/** Of `unique_value` and id, one text. */
function orderOfArrivals(row: i32, than: i32): i32 {
  const bytes = load<i32>(row + ROW_UNIQUE + 4);
  const otherBytes = load<i32>(than + ROW_UNIQUE + 4);
  if (bytes == otherBytes) {
    const difference = order(load<i32>(row + ROW_UNIQUE), bytes, load<i32>(than + ROW_UNIQUE), bytes);
    if (difference != 0) return difference;
    return order(load<i32>(row + ROW_ID), ID_BYTES, load<i32>(than + ROW_ID), ID_BYTES);
  }
  for (let at = 0; at < min(bytes, otherBytes) + ID_BYTES; at++) {
    const difference = <i32>arrivalByte(row, at, bytes) - <i32>arrivalByte(than, at, otherBytes);
    if (difference != 0) return difference;
  }
  return bytes - otherBytes;
}

function arrivalByte(row: i32, at: i32, uniqueBytes: i32): u8 {
  if (at < uniqueBytes) return load<u8>(load<i32>(row + ROW_UNIQUE) + at);
  return load<u8>(load<i32>(row + ROW_ID) + at - uniqueBytes);
}

/** Once, in the order in which they come. */
function addUnique(tally: i32): void {
  const unique = pairEntry(UNIQUE_OF_TALLY, tally, uniqueText);
  if (!isNewEntry) return;
  const last = load<i32>(tally + TALLY_LAST_UNIQUE);
  store<i32>(last == 0 ? tally + TALLY_UNIQUES : last + UNIQUE_NEXT, unique);
  store<i32>(tally + TALLY_LAST_UNIQUE, unique);
  store<i32>(tally + TALLY_UNIQUE_COUNT, load<i32>(tally + TALLY_UNIQUE_COUNT) + 1);
  uniqueRoom += load<i32>(uniqueText + ENTRY_SECOND) + 5;
}

/** Room that its row needs, but for the texts that it counts and those of dictionaries. */
export function rowRoom(tally: i32): i32 {
  const latest = load<i32>(tally + TALLY_LATEST);
  const names = NAMES + load<i32>(latest + ROW_NAMES) * NAMES_BYTES;
  return ROW_ROOM + load<i32>(names + NAMES_CUSTOMER + 4) + load<i32>(latest + ROW_UNIQUE + 4);
}

/** The text's entry is the second number. */
export function firstUnique(tally: i32): i32 {
  return load<i32>(tally + TALLY_UNIQUES);
}

export function nextUnique(unique: i32): i32 {
  return load<i32>(unique + UNIQUE_NEXT);
}

export function uniqueTextOf(unique: i32): i32 {
  return load<i32>(unique + ENTRY_SECOND) + ENTRY_FIRST;
}
