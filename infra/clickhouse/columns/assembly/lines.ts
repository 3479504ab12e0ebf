import { clearNames, namesOf, setNames } from './names';
import { decimal, numberEnd, timeMs, unitsHigh, unitsLow, whole } from './numbers';
import {
  LINES,
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  PROPERTIES,
  PROPERTIES_END,
  PROPERTY_BYTES,
  ROW_BYTES,
  ROW_CREATED,
  ROW_FINGERPRINT,
  ROW_ID,
  ROW_NAMES,
  ROW_OCCURRED,
  ROW_PROPERTIES,
  ROW_PROPERTY_COUNT,
  ROW_UNIQUE,
  ROW_VALUE,
  ROWS,
} from './places';
import { plainText, text, textAt, textBytes, varUintBytes } from './texts';

export let rowCount: i32 = 0;
export let propertyCount: i32 = 0;
/** In their columns, with their lengths. */
export let customerBytes: i32 = 0;
export let uniqueBytes: i32 = 0;
export let propertyNameBytes: i32 = 0;
export let propertyValueBytes: i32 = 0;
let next: i32 = 0;

/** `use_` and 26 characters of base32. */
export const ID_BYTES: i32 = 30;
/** Between two texts: quote, comma, quote. */
const SEPARATOR: u32 = 0x222c22;
const CLOSING_BRACE: u8 = 125;

export function beginLines(): void {
  rowCount = 0;
  propertyCount = 0;
  customerBytes = 0;
  uniqueBytes = 0;
  propertyNameBytes = 0;
  propertyValueBytes = 0;
  next = LINES;
  clearNames();
}

/** Reads so many more lines. False when one has a form that is not read here. */
export function readLines(count: i32): bool {
  for (let line = 0; line < count; line++) {
    next = readLine(next, ROWS + rowCount * ROW_BYTES);
    if (next == 0) return false;
    rowCount++;
  }
  return true;
}

/** Gives where the next line begins; 0 when this one is not read here. */
function readLine(line: i32, row: i32): i32 {
  if (load<u16>(line) != 0x225b) return 0; // ["
  let at = readNames(line + 2, row);
  if (at == 0) return 0;
  if (!isId(at)) return 0;
  store<i32>(row + ROW_ID, at);
  at += ID_BYTES;
  if (!isSeparator(at)) return 0;
  store<u64>(row + ROW_FINGERPRINT, whole(at + 3));
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x2c22) return 0; // ",
  decimal(numberEnd + 2);
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x222c) return 0; // ,"
  store<u64>(row + ROW_VALUE, unitsLow);
  store<u64>(row + ROW_VALUE + 8, unitsHigh);
  at = text(numberEnd + 2);
  if (at == 0) return 0;
  store<i32>(row + ROW_UNIQUE, textAt);
  store<i32>(row + ROW_UNIQUE + 4, textBytes);
  uniqueBytes += stringBytes();
  at = readProperties(at + 1, row);
  return at == 0 ? 0 : readTimes(at, row);
}

/** Gives where the id begins. */
function readNames(environment: i32, row: i32): i32 {
  const environmentEnd = plainText(environment);
  if (environmentEnd == 0 || !isSeparator(environmentEnd)) return 0;
  const customerEnd = plainText(environmentEnd + 3);
  if (customerEnd == 0 || !isSeparator(customerEnd)) return 0;
  const meterEnd = plainText(customerEnd + 3);
  if (meterEnd == 0 || !isSeparator(meterEnd)) return 0;
  // From quote to quote: without the quotes two names could be read as two others.
  let index = namesOf(environment - 1, meterEnd + 1 - (environment - 1));
  if (index < 0) {
    index = -index - 1;
    setNames(NAMES + index * NAMES_BYTES, environment, environmentEnd, customerEnd, meterEnd);
  }
  store<i32>(row + ROW_NAMES, index);
  const customer = load<i32>(NAMES + index * NAMES_BYTES + NAMES_CUSTOMER + 4);
  customerBytes += customer + varUintBytes(customer);
  return meterEnd + 3;
}

function isSeparator(at: i32): bool {
  return (load<u32>(at) & 0xffffff) == SEPARATOR;
}

function isId(at: i32): bool {
  if (load<u32>(at) != 0x5f657375) return false; // use_
  return areBase32(v128.load(at + 4)) && areBase32(v128.load(at + 14));
}

function areBase32(bytes: v128): bool {
  const letters = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(97)), i8x16.splat(26));
  const figures = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(50)), i8x16.splat(6));
  return i8x16.all_true(v128.or(letters, figures));
}

/** Gives the place behind the closing brace. */
function readProperties(comma: i32, row: i32): i32 {
  if (load<u16>(comma) != 0x7b2c) return 0; // ,{
  let at = comma + 2;
  const first = propertyCount;
  store<i32>(row + ROW_PROPERTIES, PROPERTIES + first * PROPERTY_BYTES);
  if (load<u8>(at) != CLOSING_BRACE) {
    do {
      at = readProperty(at);
      if (at == 0) return 0;
    } while (load<u8>(at++) == 44);
    at--;
  }
  store<i32>(row + ROW_PROPERTY_COUNT, propertyCount - first);
  return load<u8>(at) == CLOSING_BRACE ? at + 1 : 0;
}

/** From its opening quote; gives the place behind it. */
function readProperty(quote: i32): i32 {
  const property = PROPERTIES + propertyCount * PROPERTY_BYTES;
  if (property + PROPERTY_BYTES > PROPERTIES_END || load<u8>(quote) != 34) return 0;
  const nameEnd = text(quote + 1);
  if (nameEnd == 0 || (load<u32>(nameEnd) & 0xffffff) != 0x223a22) return 0; // ":"
  store<i32>(property, textAt);
  store<i32>(property + 4, textBytes);
  propertyNameBytes += stringBytes();
  const valueEnd = text(nameEnd + 3);
  if (valueEnd == 0) return 0;
  store<i32>(property + 8, textAt);
  store<i32>(property + 12, textBytes);
  propertyValueBytes += stringBytes();
  propertyCount++;
  return valueEnd + 1;
}

function stringBytes(): i32 {
  return textBytes + varUintBytes(textBytes);
}

function readTimes(comma: i32, row: i32): i32 {
  if (load<u8>(comma) != 44) return 0;
  store<i64>(row + ROW_OCCURRED, timeMs(comma + 1));
  if (numberEnd == 0 || load<u8>(numberEnd) != 44) return 0;
  store<i64>(row + ROW_CREATED, timeMs(numberEnd + 1));
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x0a5d) return 0; // ] and a line feed
  return numberEnd + 2;
}
