/** The blocks of the rollups: the columns of each (infra/clickhouse/rollups), and the uses of properties. */
import { ENTRY_FIRST, ENTRY_SECOND } from './entries';
import { hourCount, hourRoom } from './hours';
import {
  HOUR_LIST,
  NAMES,
  NAMES_BYTES,
  NAMES_ENVIRONMENT,
  NAMES_METER,
  PROPERTY_LIST,
  ROLLUP,
  ROW_NAMES,
  rollupEnd,
} from './places';
import {
  firstUse,
  propertyRoom,
  propertyRowCount,
  USE_CLOSED,
  USE_EVENTS,
  USE_FIRST,
  USE_NEXT,
  USE_ROWS,
  USE_VALUES,
  VALUE_WORD,
} from './property-values';
import * as column from './rollup-columns';
import { hourOf } from './sort';
import { TALLY_FIRST, TALLY_USE, TALLY_VALUE, uniqueRoom } from './tallies';
import { environmentWord, meterWord, noWord } from './words';

const HOUR_COLUMNS: i32 = 10;
const PROPERTY_COLUMNS: i32 = 13;
const USE_BYTES: i32 = 48;

/** Gives where the memory has to end for either block, and for the uses. */
export function rollupsEnd(): i32 {
  return rollupEnd(max(hourRoom, propertyRoom) + uniqueRoom);
}

export function rollupAt(): i32 {
  return ROLLUP;
}

/** Gives how many rows it has. */
export function beginHourRows(): i32 {
  column.beginColumns(HOUR_COLUMNS, HOUR_LIST, hourCount);
  return hourCount;
}

/** The next ones are put behind it: all, in this order. Gives where the block ends up to there. */
export function writeHourColumn(number: i32): i32 {
  if (number == 0) column.putWords('environment', environmentOf);
  else if (number == 1) column.putCustomers();
  else if (number == 2) column.putWords('meter_key', meterOf);
  else if (number == 3) column.putHours();
  else if (number == 4) column.putTotals();
  else if (number == 5) column.putEvents();
  else if (number == 6) column.putLargest();
  else if (number == 7) column.putLatestValue();
  else if (number == 8) column.putLatestOrder();
  else column.putUniques();
  return column.columnsEnd() - ROLLUP;
}

/** Of what is not closed. */
export function beginPropertyRows(): i32 {
  let open = 0;
  for (let row = 0; row < propertyRowCount; row++) {
    const tally = load<i32>(PROPERTY_LIST + row * 4);
    if (load<i32>(load<i32>(tally + TALLY_USE) + USE_CLOSED) != 0) continue;
    store<i32>(PROPERTY_LIST + open++ * 4, tally);
  }
  column.beginColumns(PROPERTY_COLUMNS, PROPERTY_LIST, open);
  return open;
}

export function writePropertyColumn(number: i32): i32 {
  if (number == 0) column.putWords('environment', environmentOf);
  else if (number == 1) column.putWords('meter_key', meterOf);
  else if (number == 2) column.putWords('property', propertyOf);
  else if (number == 3) column.putCustomers();
  else if (number == 4) column.putHours();
  else if (number == 5) column.putWords('value', valueOf);
  else if (number == 6) column.putTotals();
  else if (number == 7) column.putEvents();
  else if (number == 8) column.putLargest();
  else if (number == 9) column.putUnordered();
  else if (number == 10) column.putLatestValues();
  else if (number == 11) column.putLatestOrders();
  else column.putUniques();
  return column.columnsEnd() - ROLLUP;
}

function namesOf(tally: i32): i32 {
  return load<i32>(load<i32>(tally + TALLY_FIRST) + ROW_NAMES);
}

function environmentOf(tally: i32): i32 {
  return environmentWord(namesOf(tally));
}

function meterOf(tally: i32): i32 {
  return meterWord(namesOf(tally));
}

function propertyOf(tally: i32): i32 {
  return load<i32>(tally + TALLY_VALUE) == 0
    ? noWord
    : load<i32>(load<i32>(tally + TALLY_USE) + ENTRY_SECOND);
}

function valueOf(tally: i32): i32 {
  const value = load<i32>(tally + TALLY_VALUE);
  return value == 0 ? noWord : load<i32>(value + VALUE_WORD);
}

/**
 * Writes each as words of 32 bits: its number for `closeUse`; seconds of one of its hours; place and length
 * of environment, meter and property; events, rows, values. Gives how many there are.
 */
export function writeUses(): i32 {
  let to = ROLLUP;
  for (let use = firstUse; use != 0; use = load<i32>(use + USE_NEXT), to += USE_BYTES) {
    const tally = load<i32>(use + USE_FIRST);
    const names = NAMES + namesOf(tally) * NAMES_BYTES;
    store<i32>(to, use);
    store<u32>(to + 4, <u32>(hourOf(load<i32>(tally + TALLY_FIRST)) * 3600));
    store<u64>(to + 8, load<u64>(names + NAMES_ENVIRONMENT));
    store<u64>(to + 16, load<u64>(names + NAMES_METER));
    store<u64>(to + 24, load<u64>(propertyOf(tally) + ENTRY_FIRST));
    store<i32>(to + 32, load<i32>(use + USE_EVENTS));
    store<i32>(to + 36, load<i32>(use + USE_ROWS));
    store<i32>(to + 40, load<i32>(use + USE_VALUES));
  }
  return (to - ROLLUP) / USE_BYTES;
}

/** Its rows are left out. */
export function closeUse(use: i32): void {
  store<i32>(use + USE_CLOSED, 1);
}
