/** Texts of dictionaries in the rollups: entries, of which each has its number in the dictionary at hand. */
import { ENTRY_FIRST, textEntry } from './entries';
import { environmentCount, meterCount } from './names';
import {
  ENTRIES,
  ENTRY_BYTES,
  ENVIRONMENTS,
  METERS,
  NAMES,
  NAMES_BYTES,
  NAMES_ENVIRONMENT_INDEX,
  NAMES_METER_INDEX,
  TEXT_BYTES,
} from './places';

const ENVIRONMENT: i32 = -3;
const METER: i32 = -4;
const VALUE: i32 = -5;

export let noWord: i32 = 0;

/** The first entries: those of environments and meters are where their numbers say. */
export function beginWords(): void {
  addWords(ENVIRONMENT, ENVIRONMENTS, environmentCount);
  addWords(METER, METERS, meterCount);
  noWord = valueWord(ENVIRONMENTS, 0);
}

function addWords(kind: i32, texts: i32, count: i32): void {
  for (let text = texts; text < texts + count * TEXT_BYTES; text += TEXT_BYTES) {
    textEntry(kind, load<i32>(text), load<i32>(text + 4));
  }
}

export function environmentWord(names: i32): i32 {
  return ENTRIES + load<i32>(NAMES + names * NAMES_BYTES + NAMES_ENVIRONMENT_INDEX) * ENTRY_BYTES;
}

export function meterWord(names: i32): i32 {
  const meter = load<i32>(NAMES + names * NAMES_BYTES + NAMES_METER_INDEX);
  return ENTRIES + (environmentCount + meter) * ENTRY_BYTES;
}

/** Of properties' values, whatever the property. */
export function valueWord(at: i32, bytes: i32): i32 {
  return textEntry(VALUE, at, bytes);
}

export function wordAt(word: i32): i32 {
  return load<i32>(word + ENTRY_FIRST);
}
