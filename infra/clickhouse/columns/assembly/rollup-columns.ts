/** Columns of rollups in ClickHouse's format Native, each written for all rows at once. */
import { ENTRY_FIRST, ENTRY_WORD } from './entries';
import { orderedSince } from './hours';
import { DICTIONARY_VERSION, head, indexBytes, OWN_DICTIONARY, putIndex } from './output';
import {
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  ROLLUP,
  ROW_CREATED,
  ROW_ID,
  ROW_NAMES,
  ROW_OCCURRED,
  ROW_UNIQUE,
  ROW_VALUE,
  WORDS,
} from './places';
import { ID_BYTES } from './rows';
import { hourOf } from './sort';
import {
  firstUnique,
  isOrdered,
  nextUnique,
  TALLY_EVENTS,
  TALLY_FIRST,
  TALLY_LARGEST,
  TALLY_LATEST,
  TALLY_SUM,
  TALLY_UNIQUE_COUNT,
  TALLY_UNORDERED,
  uniqueTextOf,
} from './tallies';
import { copy, copyString, varUint } from './texts';

const ORDER = "Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String)";
const DECIMAL = 'Decimal(38, 12)';

/** Places of tallies, one a row. */
let list: i32 = 0;
let listEnd: i32 = 0;
let to: i32 = 0;

export function beginColumns(columns: i32, firstRow: i32, rows: i32): void {
  list = firstRow;
  listEnd = firstRow + rows * 4;
  to = varUint(rows, varUint(columns, ROLLUP));
}

export function columnsEnd(): i32 {
  return to;
}

/** Texts that repeat; `wordOf` gives the word of a tally. */
export function putWords(name: string, wordOf: (tally: i32) => i32): void {
  to = head(name, 'LowCardinality(String)', to);
  if (list == listEnd) return;
  let count = 0;
  for (let at = list; at < listEnd; at += 4) {
    const word = wordOf(load<i32>(at));
    if (load<i32>(word + ENTRY_WORD) != 0) continue;
    store<i32>(WORDS + count++ * 4, word);
    store<i32>(word + ENTRY_WORD, count);
  }
  store<u64>(to, DICTIONARY_VERSION);
  store<u64>(to + 8, OWN_DICTIONARY | (indexBytes(count) >> 1));
  store<u64>(to + 16, count);
  to += 24;
  for (let at = WORDS; at < WORDS + count * 4; at += 4) putText(load<i32>(at) + ENTRY_FIRST);
  store<u64>(to, (listEnd - list) >> 2);
  to += 8;
  for (let at = list; at < listEnd; at += 4) {
    to = putIndex(load<i32>(wordOf(load<i32>(at)) + ENTRY_WORD) - 1, count, to);
  }
  // The next dictionary has numbers of its own.
  for (let at = WORDS; at < WORDS + count * 4; at += 4) store<i32>(load<i32>(at) + ENTRY_WORD, 0);
}

/** By place and length. */
function putText(text: i32): void {
  to = copyString(load<i32>(text), load<i32>(text + 4), to);
}

export function putCustomers(): void {
  to = head('customer_id', 'String', to);
  for (let at = list; at < listEnd; at += 4) {
    const names = NAMES + load<i32>(load<i32>(load<i32>(at) + TALLY_FIRST) + ROW_NAMES) * NAMES_BYTES;
    putText(names + NAMES_CUSTOMER);
  }
}

export function putHours(): void {
  to = head('hour', "DateTime('UTC')", to);
  for (let at = list; at < listEnd; at += 4, to += 4) {
    store<u32>(to, <u32>(hourOf(load<i32>(load<i32>(at) + TALLY_FIRST)) * 3600));
  }
}

export function putTotals(): void {
  to = head('total', DECIMAL, to);
  for (let at = list; at < listEnd; at += 4, to += 16) v128.store(to, v128.load(load<i32>(at) + TALLY_SUM));
}

export function putEvents(): void {
  to = head('events', 'UInt64', to);
  for (let at = list; at < listEnd; at += 4, to += 8) store<u64>(to, load<i32>(load<i32>(at) + TALLY_EVENTS));
}

export function putLargest(): void {
  to = head('largest', DECIMAL, to);
  for (let at = list; at < listEnd; at += 4) putValue(load<i32>(load<i32>(at) + TALLY_LARGEST));
}

function putValue(row: i32): void {
  v128.store(to, v128.load(row + ROW_VALUE));
  to += 16;
}

/** Zeros, which take no room on disk, where the meter is none of `latest`: `hasNoLatest` of hour-rows.ts. */
function latestOf(tally: i32): i32 {
  const row = load<i32>(tally + TALLY_LATEST);
  return isOrdered(row) || load<i64>(row + ROW_CREATED) < orderedSince ? row : 0;
}

export function putLatestValue(): void {
  to = head('latest_value', DECIMAL, to);
  for (let at = list; at < listEnd; at += 4) {
    const row = latestOf(load<i32>(at));
    v128.store(to, row == 0 ? i64x2.splat(0) : v128.load(row + ROW_VALUE));
    to += 16;
  }
}

export function putLatestOrder(): void {
  to = head('latest_order', ORDER, to);
  for (let time = ROW_OCCURRED; time <= ROW_CREATED; time += ROW_CREATED - ROW_OCCURRED) {
    for (let at = list; at < listEnd; at += 4, to += 8) {
      const row = latestOf(load<i32>(at));
      store<u64>(to, row == 0 ? 0 : load<u64>(row + time));
    }
  }
  for (let at = list; at < listEnd; at += 4) {
    const row = latestOf(load<i32>(at));
    if (row == 0) store<u8>(to++, 0);
    else putArrival(row);
  }
}

/** Times, then texts; of rows that have an order of arrival. */
function putOrders(): void {
  for (let time = ROW_OCCURRED; time <= ROW_CREATED; time += ROW_CREATED - ROW_OCCURRED) {
    for (let at = list; at < listEnd; at += 4) {
      const tally = load<i32>(at);
      if (load<i32>(tally + TALLY_UNORDERED) != 0) continue;
      store<u64>(to, load<u64>(load<i32>(tally + TALLY_LATEST) + time));
      to += 8;
    }
  }
  for (let at = list; at < listEnd; at += 4) {
    const tally = load<i32>(at);
    if (load<i32>(tally + TALLY_UNORDERED) == 0) putArrival(load<i32>(tally + TALLY_LATEST));
  }
}

function putArrival(row: i32): void {
  const bytes = load<i32>(row + ROW_UNIQUE + 4);
  to = copy(load<i32>(row + ROW_UNIQUE), bytes, varUint(bytes + ID_BYTES, to));
  to = copy(load<i32>(row + ROW_ID), ID_BYTES, to);
}

export function putUnordered(): void {
  to = head('unordered', 'UInt8', to);
  for (let at = list; at < listEnd; at += 4) store<u8>(to++, load<u8>(load<i32>(at) + TALLY_UNORDERED));
}

/** None of a row whose events have no order of arrival. */
export function putLatestValues(): void {
  to = head('latest_values', 'Array(Decimal(38, 12))', to);
  putOrderedEnds();
  for (let at = list; at < listEnd; at += 4) {
    const tally = load<i32>(at);
    if (load<i32>(tally + TALLY_UNORDERED) == 0) putValue(load<i32>(tally + TALLY_LATEST));
  }
}

export function putLatestOrders(): void {
  to = head('latest_orders', "Array(Tuple(DateTime64(3, 'UTC'), DateTime64(3, 'UTC'), String))", to);
  putOrderedEnds();
  putOrders();
}

/** Of arrays: behind the last value of each row, counted over all rows. */
function putOrderedEnds(): void {
  let end: u64 = 0;
  for (let at = list; at < listEnd; at += 4, to += 8) {
    end += <u64>(load<i32>(load<i32>(at) + TALLY_UNORDERED) == 0);
    store<u64>(to, end);
  }
}

export function putUniques(): void {
  to = head('unique_values', 'Array(String)', to);
  let end: u64 = 0;
  for (let at = list; at < listEnd; at += 4, to += 8) {
    end += load<i32>(load<i32>(at) + TALLY_UNIQUE_COUNT);
    store<u64>(to, end);
  }
  for (let at = list; at < listEnd; at += 4) {
    const first = firstUnique(load<i32>(at));
    for (let unique = first; unique != 0; unique = nextUnique(unique)) putText(uniqueTextOf(unique));
  }
}
