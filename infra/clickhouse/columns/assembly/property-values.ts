/** The values of each property, by hour and month: the twin of infra/clickhouse/rollups/property-rows.ts. */
import { ENTRY_FIRST, ENTRY_SECOND, isNewEntry, pairEntry, textEntry } from './entries';
import {
  PROPERTY_BYTES,
  PROPERTY_LIST,
  ROW_NAMES,
  ROW_PROPERTIES,
  ROW_PROPERTY_COUNT,
  TALLY_BYTES,
  VALUES,
} from './places';
import { hourOf } from './sort';
import {
  addToTally,
  beginTally,
  rowRoom,
  TALLY_EVENTS,
  TALLY_FIRST,
  TALLY_NEXT,
  TALLY_USE,
  TALLY_VALUE,
} from './tallies';
import { isSame } from './texts';
import { environmentWord, meterWord, valueWord } from './words';

/** As many as the plain writer looks at in an hour. */
const NAMES_MAX: i32 = 1_000;

// Kinds of entries: values have that of their name, months of meters have those below the others.
const NAME: i32 = -6;
const USE: i32 = -7;
const VALUE_OF_USE: i32 = -8;
const LAST_KIND: i32 = -16;

// Of a name: its number in a dictionary, then what the hour at hand has of it, and the name that follows it.
const NAME_ROW: i32 = 24;
const NAME_HOUR: i32 = 28;
const NAME_TALLY: i32 = 32;
const NAME_LAST_TALLY: i32 = 36;
const NAME_NEXT: i32 = 40;
const NAME_FOLLOWING: i32 = 44;

// Of a value.
const VALUE_HOUR: i32 = 20;
const VALUE_TALLY: i32 = 24;
export const VALUE_WORD: i32 = 28;

// Of a property of a meter in a month. Of the one without a name the numbers are those of the meter.
export const USE_EVENTS: i32 = 20;
export const USE_ROWS: i32 = 24;
export const USE_VALUES: i32 = 28;
export const USE_FIRST: i32 = 32; // tally
export const USE_CLOSED: i32 = 36;
export const USE_NEXT: i32 = 40;

export let propertyRowCount: i32 = 0;
/** Room that their rows need, but for the texts that they count. */
export let propertyRoom: i32 = 0;
export let firstUse: i32 = 0;

let valueCount: i32 = 0;
let lastUse: i32 = 0;
/** Of the hour at hand. */
let nameCount: i32 = 0;
let firstName: i32 = 0;
let lastName: i32 = 0;
/** Of the property before. */
let nameBefore: i32 = 0;
let day: i64 = 0;
let monthOfDay: i32 = 0;

export function beginProperties(): void {
  propertyRowCount = 0;
  propertyRoom = 0;
  firstUse = 0;
  valueCount = 0;
  lastUse = 0;
  endNames();
  nameBefore = 0;
  day = i64.MIN_VALUE;
}

function endNames(): void {
  nameCount = 0;
  firstName = 0;
  lastName = 0;
}

/** `hour`: its number, from 1 on. False for values that are not read here. */
export function addProperties(row: i32, hour: i32): bool {
  let property = load<i32>(row + ROW_PROPERTIES);
  const end = property + load<i32>(row + ROW_PROPERTY_COUNT) * PROPERTY_BYTES;
  for (; property < end; property += PROPERTY_BYTES) {
    const name = nameOf(property);
    if (load<i32>(property + 4) == 0) continue;
    if (load<i32>(name + NAME_HOUR) != hour && !beginName(name, hour)) continue;
    // A name that is there twice has its first value, as ClickHouse reads a map.
    if (load<i32>(name + NAME_ROW) == row) continue;
    store<i32>(name + NAME_ROW, row);
    if (!addValue(name, property, row, hour)) return false;
  }
  return true;
}

/** Events name their properties alike, in one order: a name is mostly the one that followed before. */
function nameOf(property: i32): i32 {
  const at = load<i32>(property);
  const bytes = load<i32>(property + 4);
  let name = nameBefore == 0 ? 0 : load<i32>(nameBefore + NAME_FOLLOWING);
  const isKnown =
    name != 0 && load<i32>(name + ENTRY_SECOND) == bytes && isSame(load<i32>(name + ENTRY_FIRST), at, bytes);
  if (!isKnown) {
    name = textEntry(NAME, at, bytes);
    if (isNewEntry) propertyRoom += bytes + 5;
    if (nameBefore != 0) store<i32>(nameBefore + NAME_FOLLOWING, name);
  }
  nameBefore = name;
  return name;
}

/** False when the hour has too many. */
function beginName(name: i32, hour: i32): bool {
  if (nameCount == NAMES_MAX) return false;
  nameCount++;
  store<i32>(name + NAME_HOUR, hour);
  store<i32>(name + NAME_ROW, 0);
  store<i32>(name + NAME_TALLY, 0);
  store<i32>(name + NAME_NEXT, 0);
  if (lastName == 0) firstName = name;
  else store<i32>(lastName + NAME_NEXT, name);
  lastName = name;
  return true;
}

/** False for a tag that parts a character. */
function addValue(name: i32, property: i32, row: i32, hour: i32): bool {
  let at = load<i32>(property + 8);
  let bytes = load<i32>(property + 12);
  if (bytes > 0 && load<u8>(at) == 0) {
    // The tag of a number or boolean.
    if (bytes > 1 && load<u8>(at + 1) > 127) return false;
    const tag = min(bytes, 2);
    at += tag;
    bytes -= tag;
  }
  if (bytes == 0) return true;
  const value = textEntry(name, at, bytes);
  if (isNewEntry) {
    const word = valueWord(at, bytes);
    if (isNewEntry) propertyRoom += bytes + 5;
    store<i32>(value + VALUE_WORD, word);
  }
  if (load<i32>(value + VALUE_HOUR) == hour) addToTally(load<i32>(value + VALUE_TALLY), row);
  else beginValue(name, value, row, hour);
  return true;
}

function beginValue(name: i32, value: i32, row: i32, hour: i32): void {
  const tally = VALUES + valueCount++ * TALLY_BYTES;
  beginTally(tally, row);
  store<i32>(tally + TALLY_VALUE, value);
  store<i32>(value + VALUE_HOUR, hour);
  store<i32>(value + VALUE_TALLY, tally);
  if (load<i32>(name + NAME_TALLY) == 0) store<i32>(name + NAME_TALLY, tally);
  else store<i32>(load<i32>(name + NAME_LAST_TALLY) + TALLY_NEXT, tally);
  store<i32>(name + NAME_LAST_TALLY, tally);
}

/** `whole`: the tally of all its events. */
export function endPropertiesOfHour(whole: i32): void {
  const meter = useOfMeter(whole);
  addRow(whole, meter);
  for (let name = firstName; name != 0; name = load<i32>(name + NAME_NEXT)) {
    let tally = load<i32>(name + NAME_TALLY);
    if (tally == 0) continue;
    const use = pairEntry(USE, meter, name);
    if (isNewEntry) {
      addUse(use, tally);
      store<i32>(meter + USE_VALUES, load<i32>(meter + USE_VALUES) + 1);
    }
    for (; tally != 0; tally = load<i32>(tally + TALLY_NEXT)) {
      addRow(tally, use);
      pairEntry(VALUE_OF_USE, use, load<i32>(tally + TALLY_VALUE));
      if (isNewEntry) store<i32>(use + USE_VALUES, load<i32>(use + USE_VALUES) + 1);
    }
  }
  endNames();
}

function useOfMeter(whole: i32): i32 {
  const row = load<i32>(whole + TALLY_FIRST);
  const names = load<i32>(row + ROW_NAMES);
  const use = pairEntry(LAST_KIND - monthOf(hourOf(row) / 24), environmentWord(names), meterWord(names));
  if (isNewEntry) addUse(use, whole);
  return use;
}

function addUse(use: i32, tally: i32): void {
  store<i32>(use + USE_FIRST, tally);
  if (lastUse == 0) firstUse = use;
  else store<i32>(lastUse + USE_NEXT, use);
  lastUse = use;
}

function addRow(tally: i32, use: i32): void {
  store<i32>(tally + TALLY_USE, use);
  store<i32>(use + USE_ROWS, load<i32>(use + USE_ROWS) + 1);
  store<i32>(use + USE_EVENTS, load<i32>(use + USE_EVENTS) + load<i32>(tally + TALLY_EVENTS));
  store<i32>(PROPERTY_LIST + propertyRowCount++ * 4, tally);
  propertyRoom += rowRoom(tally);
}

/** Since 1970, of a day since then. Years are taken from March on: their last day is the odd one. */
function monthOf(ofDay: i64): i32 {
  if (ofDay == day) return monthOfDay;
  day = ofDay;
  const days = ofDay + 719_468; // since 1 March of the year 0
  const era = days / 146_097; // 400 years
  const dayOfEra = days % 146_097;
  const year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100);
  const month = (5 * dayOfYear + 2) / 153; // 0 is March
  monthOfDay = <i32>((era * 400 + year - 1970) * 12 + month);
  return monthOfDay;
}
