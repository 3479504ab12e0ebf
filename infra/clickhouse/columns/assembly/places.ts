/**
 * Where all data are in the memory: behind the constants, one area after the other, each as large as a block
 * needs it.
 * Row: its (environment, customer, meter), a number; id; fingerprint; value in units; times; counted text;
 * properties. Texts are in the lines, by place and length.
 */
export const ROW_BYTES: i32 = 64;
export const ROW_NAMES: i32 = 0;
export const ROW_ID: i32 = 4;
export const ROW_FINGERPRINT: i32 = 8;
export const ROW_VALUE: i32 = 16; // 16 bytes
export const ROW_OCCURRED: i32 = 32;
export const ROW_CREATED: i32 = 40;
export const ROW_UNIQUE: i32 = 48; // place and length
export const ROW_PROPERTIES: i32 = 56; // the place of the first one, and how many
export const ROW_PROPERTY_COUNT: i32 = 60;

export const PROPERTY_BYTES: i32 = 16; // place and length of the name, then of the value

/** Environment, customer and meter of rows: place and length of each, which are behind one another. */
export const NAMES_BYTES: i32 = 48;
export const NAMES_ENVIRONMENT: i32 = 0;
export const NAMES_CUSTOMER: i32 = 8;
export const NAMES_METER: i32 = 16;
export const NAMES_RANK: i32 = 24; // in the order of the table's key
export const NAMES_LENGTH: i32 = 28; // of all three
export const NAMES_HASH: i32 = 32;
export const NAMES_ENVIRONMENT_INDEX: i32 = 40; // in the dictionary of its column
export const NAMES_METER_INDEX: i32 = 44;

/** Sorted rows: the leading bits of their key, then the row's number. */
export const KEY_BYTES: i32 = 16;
export const KEY_ROW: i32 = 8;

/** Of some events, what a row of a rollup says of them: see tallies.ts. */
export const TALLY_BYTES: i32 = 64;
/** What is found by its text or by two numbers: see entries.ts. */
export const ENTRY_BYTES: i32 = 48;

/** Of a text: place and length. */
export const TEXT_BYTES: i32 = 8;

export const DIGIT_BITS: i32 = 11;
export const ENTRY_SLOTS_MIN: i32 = 1024;
const COUNTS_BYTES: i32 = 4 << DIGIT_BITS;
/** Wide loads go beyond the end of a text, and a line's end stops every search. */
const PADDING: i32 = 64;
/** Of column names, types and counts. */
const HEADS_BYTES: i32 = 4096;
/** Of a row in all columns, without its texts: numbers, indexes, lengths of texts. */
const OUTPUT_ROW_BYTES: i32 = 112;
/** For so many bytes of lines there is room for one more property. */
const LINE_BYTES_A_PROPERTY: i32 = 8;

export let LINES: i32 = 0;
export let ROWS: i32 = 0;
/** Of frames: texts of their events' ids, and the names of the frame at hand. */
export let IDS: i32 = 0;
export const IDS_BYTES: i32 = 32;
export let PAIR_NAMES: i32 = 0;
/** Each has an event. */
export let PAIRS_MAX: i32 = 0;
export let KEYS: i32 = 0;
export let SPARE_KEYS: i32 = 0;
export let NAMES: i32 = 0;
/** Of the names, in their order; and as much again to sort them. */
export let RANKED: i32 = 0;
export let SPARE_RANKED: i32 = 0;
/** Slots of the search by hash, of names and then of meters. */
export let SLOTS: i32 = 0;
export let SLOT_MASK: i32 = 0;
export let ENVIRONMENTS: i32 = 0;
export let METERS: i32 = 0;
export let COUNTS: i32 = 0;
export let PROPERTIES: i32 = 0;
export let PROPERTIES_END: i32 = 0;
/** Behind the properties that there are. */
export let OUTPUT: i32 = 0;
let OUTPUT_END: i32 = 0;
let INPUT_BYTES: i32 = 0;
/** Of the rollups, behind the block. Tallies of hours, then of the values of their properties. */
export let HOURS: i32 = 0;
export let VALUES: i32 = 0;
/** Their places, in the order of the rows. */
export let HOUR_LIST: i32 = 0;
export let PROPERTY_LIST: i32 = 0;
/** Texts of the dictionary at hand. */
export let WORDS: i32 = 0;
export let ENTRIES: i32 = 0;
export let ENTRY_SLOTS: i32 = 0;
export let ROLLUP: i32 = 0;

/** Where lines are put. */
export function linesAt(): i32 {
  return (<i32>__heap_base + PADDING) & -16;
}

/** Gives where the memory has to end for lines or frames of so many bytes and rows, without the output. */
export function plan(lineBytes: i32, rows: i32): i32 {
  const slots = 1 << (33 - <i32>clz(max(rows, 2) - 1));
  LINES = linesAt();
  ROWS = (LINES + lineBytes + PADDING) & -16;
  IDS = ROWS + rows * ROW_BYTES;
  PAIR_NAMES = IDS + rows * IDS_BYTES;
  PAIRS_MAX = rows;
  KEYS = PAIR_NAMES + rows * 4;
  SPARE_KEYS = KEYS + rows * KEY_BYTES;
  NAMES = SPARE_KEYS + rows * KEY_BYTES;
  RANKED = NAMES + rows * NAMES_BYTES;
  SPARE_RANKED = RANKED + rows * 4;
  SLOTS = SPARE_RANKED + rows * 4;
  SLOT_MASK = slots - 1;
  ENVIRONMENTS = SLOTS + slots * 4;
  METERS = ENVIRONMENTS + rows * TEXT_BYTES;
  COUNTS = METERS + rows * TEXT_BYTES;
  PROPERTIES = (COUNTS + COUNTS_BYTES + 16) & -16;
  PROPERTIES_END = PROPERTIES + (lineBytes / LINE_BYTES_A_PROPERTY) * PROPERTY_BYTES;
  INPUT_BYTES = lineBytes;
  return PROPERTIES_END;
}

/** Behind the properties of all rows. Gives where the memory has to end. */
export function placeOutput(propertiesEnd: i32, rows: i32, customerBytes: i32): i32 {
  OUTPUT = (propertiesEnd + 16) & -16;
  // All other texts are in the input at least once.
  OUTPUT_END = OUTPUT + HEADS_BYTES + INPUT_BYTES + customerBytes + rows * OUTPUT_ROW_BYTES;
  return OUTPUT_END;
}

/** Behind the block. `properties`: of all rows, or 0 without rows by property. */
export function placeTallies(rows: i32, properties: i32): i32 {
  // Names, values, their texts, uses, the values of these, what is counted of each; and as much of hours.
  const entries = 6 * properties + 5 * rows + 3;
  HOURS = (OUTPUT_END + 16) & -16;
  VALUES = HOURS + rows * TALLY_BYTES;
  HOUR_LIST = VALUES + properties * TALLY_BYTES;
  PROPERTY_LIST = HOUR_LIST + rows * 4;
  WORDS = PROPERTY_LIST + (rows + properties) * 4;
  ENTRIES = (WORDS + (rows + properties) * 4 + 16) & -16;
  ENTRY_SLOTS = ENTRIES + entries * ENTRY_BYTES;
  ROLLUP = ENTRY_SLOTS + max(ENTRY_SLOTS_MIN, 1 << (33 - <i32>clz(entries))) * 4;
  return ROLLUP;
}

/** `bytes`: of rows, without the heads of the columns. */
export function rollupEnd(bytes: i32): i32 {
  return ROLLUP + HEADS_BYTES + INPUT_BYTES + bytes;
}
