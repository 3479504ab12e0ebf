import { clearNames, namesOf, setNames } from './names';
import { decimal, numberEnd, unitsHigh, unitsLow } from './numbers';
import {
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  PROPERTIES,
  PROPERTIES_END,
  PROPERTY_BYTES,
  ROW_BYTES,
  ROW_NAMES,
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
/** Behind the names that `readNames` has read. */
export let namesEnd: i32 = 0;

/** `use_` and 26 characters of base32. */
export const ID_BYTES: i32 = 30;
/** Between two texts: quote, comma, quote. */
const SEPARATOR: u32 = 0x222c22;
const CLOSING_BRACE: u8 = 125;

export function beginRows(): void {
  rowCount = 0;
  propertyCount = 0;
  customerBytes = 0;
  uniqueBytes = 0;
  propertyNameBytes = 0;
  propertyValueBytes = 0;
  clearNames();
}

/** Where the next row goes. */
export function nextRow(): i32 {
  return ROWS + rowCount * ROW_BYTES;
}

/** All fields of the next row are there. */
export function addRow(): void {
  rowCount++;
}

/**
 * The number of the names whose first one begins here, behind its opening quote; below 0 for what is not read
 * here. The last one ends with its quote, before `namesEnd`.
 */
export function readNames(environment: i32): i32 {
  const environmentEnd = plainText(environment);
  if (environmentEnd == 0 || !isSeparator(environmentEnd)) return -1;
  const customerEnd = plainText(environmentEnd + 3);
  if (customerEnd == 0 || !isSeparator(customerEnd)) return -1;
  const meterEnd = plainText(customerEnd + 3);
  if (meterEnd == 0) return -1;
  namesEnd = meterEnd + 1;
  // From quote to quote: without the quotes two names could be read as two others.
  const index = namesOf(environment - 1, namesEnd - (environment - 1));
  if (index >= 0) return index;
  setNames(NAMES + (-index - 1) * NAMES_BYTES, environment, environmentEnd, customerEnd, meterEnd);
  return -index - 1;
}

export function putNames(row: i32, index: i32): void {
  store<i32>(row + ROW_NAMES, index);
  const customer = load<i32>(NAMES + index * NAMES_BYTES + NAMES_CUSTOMER + 4);
  customerBytes += customer + varUintBytes(customer);
}

export function isSeparator(at: i32): bool {
  return (load<u32>(at) & 0xffffff) == SEPARATOR;
}

/** Value, unique value and properties. Gives the place behind them; 0 for what is not read here. */
export function readValues(at: i32, row: i32): i32 {
  decimal(at);
  if (numberEnd == 0 || load<u16>(numberEnd) != 0x222c) return 0; // ,"
  store<u64>(row + ROW_VALUE, unitsLow);
  store<u64>(row + ROW_VALUE + 8, unitsHigh);
  const end = text(numberEnd + 2);
  if (end == 0) return 0;
  store<i32>(row + ROW_UNIQUE, textAt);
  store<i32>(row + ROW_UNIQUE + 4, textBytes);
  uniqueBytes += stringBytes();
  return readProperties(end + 1, row);
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
