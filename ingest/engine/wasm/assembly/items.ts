import * as cursor from './cursor';
import { pairOf } from './pairs';
import {
  CUSTOMER_AT,
  CUSTOMER_BYTES,
  HEADER_KEY,
  KEY_AT,
  KEY_BYTES,
  METER_AT,
  METER_BYTES,
  OCCURRED_AT,
  PAIR_AT,
  PROPERTIES_AT,
  PROPERTIES_BYTES,
  TEXTS,
  VALUE_AT,
  VALUE_BYTES,
} from './places';
import { readProperties } from './properties';
import { FRACTION_DIGITS_MAX, INTEGER_DIGITS_MAX, roundDecimal } from './round-decimal';
import { timestampMs } from './timestamp';

const KEY_BYTES_MAX: i32 = 255;
const NAME_BYTES_MAX: i32 = 128;

const CUSTOMER: i32 = 1;
const METER: i32 = 2;
const VALUE: i32 = 4;
const KEY: i32 = 8;
const OCCURRED: i32 = 16;
const PROPERTIES: i32 = 32;
const REQUIRED: i32 = CUSTOMER | METER | VALUE | KEY;

// Names of fields as little-endian words.
const CUSTOMER_WORD: u64 = 0x72656d6f74737563; //   customer
const OCCURRED_WORD: u64 = 0x646572727563636f; //   occurred
const PROPERTI_WORD: u64 = 0x69747265706f7270; //   properti
const IDEMPOTE_WORD: u64 = 0x65746f706d656469; //   idempote
const TENCYKEY_WORD: u64 = 0x79654b79636e6574; //   tencyKey
const METE_WORD: u32 = 0x6574656d; //               mete
const ERID_WORD: u32 = 0x64497265; //               erId
const VALU_WORD: u32 = 0x756c6176; //               valu

let textsEnd: i32 = TEXTS;
let rounds: bool = true;

/** Before the first item: `{}` is written once for all that have no properties. */
export function beginItems(isStrict: bool): void {
  rounds = !isStrict;
  store<u16>(TEXTS, 0x7d7b);
  textsEnd = TEXTS + 2;
}

/** Gives the item the key at HEADER_KEY. False when that key is invalid. */
export function keyFromHeader(item: i32, bytes: i32): bool {
  if (bytes > KEY_BYTES_MAX) return false;
  for (let at = HEADER_KEY, end = at + bytes; at < end; at++) {
    if (load<u8>(at) < 32 || load<u8>(at) > 126) return false;
  }
  store<i32>(item + KEY_AT, HEADER_KEY);
  store<i32>(item + KEY_BYTES, bytes);
  return true;
}

/**
 * Reads the item at the cursor, whose key of so many bytes is at HEADER_KEY already. False when the js engine
 * has to read any part of it.
 */
export function readItem(item: i32, headerBytes: i32 = 0): bool {
  store<f64>(item + OCCURRED_AT, NaN);
  store<i32>(item + PROPERTIES_AT, TEXTS);
  store<i32>(item + PROPERTIES_BYTES, 2);
  if (!cursor.take(123)) return false;
  let seen = 0;
  do {
    if (!cursor.readText()) return false;
    const field = fieldOf(cursor.textAt, cursor.textBytes);
    // A name that comes twice, or an unknown one, is left to the js engine, which uses JSON.parse.
    if (field == 0 || (seen & field) != 0) return false;
    seen |= field;
    if (!cursor.take(58) || !readField(field, item)) return false;
    if (field == KEY && headerBytes > 0 && !isHeaderKey(headerBytes)) return false;
  } while (cursor.take(44));
  if (headerBytes > 0) seen |= KEY;
  if ((seen & REQUIRED) != REQUIRED || !cursor.take(125)) return false;
  const pair = pairOf(
    load<i32>(item + CUSTOMER_AT),
    load<i32>(item + CUSTOMER_BYTES),
    load<i32>(item + METER_AT),
    load<i32>(item + METER_BYTES),
  );
  store<i32>(item + PAIR_AT, pair);
  return pair != 0;
}

function fieldOf(name: i32, bytes: i32): i32 {
  const word = load<u64>(name);
  if (bytes == 10) {
    const end = load<u16>(name + 8);
    if (word == CUSTOMER_WORD && end == 0x6449) return CUSTOMER;
    if (word == OCCURRED_WORD && end == 0x7441) return OCCURRED;
    return word == PROPERTI_WORD && end == 0x7365 ? PROPERTIES : 0;
  }
  if (bytes == 7) return <u32>word == METE_WORD && load<u32>(name + 3) == ERID_WORD ? METER : 0;
  if (bytes == 5) return <u32>word == VALU_WORD && load<u8>(name + 4) == 101 ? VALUE : 0;
  return bytes == 14 && word == IDEMPOTE_WORD && load<u64>(name + 6) == TENCYKEY_WORD ? KEY : 0;
}

function readField(field: i32, item: i32): bool {
  if (field == VALUE) return cursor.readNumber() && keepValue(item);
  if (field == PROPERTIES) return keepProperties(item);
  if (!cursor.readText() || cursor.isWide || cursor.textBytes == 0) return false;
  if (field == CUSTOMER) return cursor.textBytes <= NAME_BYTES_MAX && keep(item + CUSTOMER_AT);
  if (field == METER) return cursor.textBytes <= NAME_BYTES_MAX && keep(item + METER_AT);
  if (field == KEY) return cursor.textBytes <= KEY_BYTES_MAX && !hasDelete() && keep(item + KEY_AT);
  const ms = timestampMs(cursor.textAt, cursor.textBytes);
  store<f64>(item + OCCURRED_AT, ms);
  return ms >= 0;
}

/** Place and length of the text that was read last. */
function keep(place: i32): bool {
  store<i32>(place, cursor.textAt);
  store<i32>(place + 4, cursor.textBytes);
  return true;
}

/** Values that a client computed with doubles have up to 17 digits, and are rounded as in the js engine. */
function keepValue(item: i32): bool {
  if (cursor.integerDigits > INTEGER_DIGITS_MAX) return false;
  if (cursor.fractionDigits <= FRACTION_DIGITS_MAX) return keep(item + VALUE_AT);
  const bytes = rounds ? roundDecimal(cursor.textAt, cursor.textBytes, cursor.fractionDigits, textsEnd) : 0;
  if (bytes == 0) return false;
  store<i32>(item + VALUE_AT, textsEnd);
  store<i32>(item + VALUE_BYTES, bytes);
  textsEnd += bytes;
  return true;
}

/** True when the text that was read last is the key in the header. */
function isHeaderKey(bytes: i32): bool {
  if (cursor.textBytes != bytes) return false;
  for (let at = 0; at < bytes; at++) {
    if (load<u8>(cursor.textAt + at) != load<u8>(HEADER_KEY + at)) return false;
  }
  return true;
}

/** The one control character of ASCII that JSON allows in a string. */
function hasDelete(): bool {
  for (let at = cursor.textAt, end = at + cursor.textBytes; at < end; at++) {
    if (load<u8>(at) == 127) return true;
  }
  return false;
}

function keepProperties(item: i32): bool {
  const end = readProperties(textsEnd);
  if (end == 0) return false;
  store<i32>(item + PROPERTIES_AT, textsEnd);
  store<i32>(item + PROPERTIES_BYTES, end - textsEnd);
  textsEnd = end;
  return true;
}
