import { isSame } from './bytes';
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
import { readProperties, writtenAt, writtenEnd } from './properties';
import { FRACTION_DIGITS_MAX, INTEGER_DIGITS_MAX, roundDecimal } from './round-decimal';
import {
  fractionDigits,
  integerDigits,
  isBare,
  isWide,
  numberAt,
  numberBytes,
  readNumber,
  readText,
  take,
} from './scanner';
import { timestampMs } from './timestamp';

const COMMA: u8 = 44;
const COLON: u8 = 58;
const CLOSE: u8 = 125;
const KEY_BYTES_MAX: i32 = 255;
const NAME_BYTES_MAX: i32 = 128;

// A field: its bit, and above it the length of its name.
const CUSTOMER: i32 = 1 | (10 << 8);
const METER: i32 = 2 | (7 << 8);
const VALUE: i32 = 4 | (5 << 8);
const KEY: i32 = 8 | (14 << 8);
const OCCURRED: i32 = 16 | (10 << 8);
const PROPERTIES: i32 = 32 | (10 << 8);
const BITS: i32 = 63;
const REQUIRED: i32 = 1 | 2 | 4 | 8;

// Names of fields with their closing quote, as little-endian words.
const CUSTOMER_WORD: u64 = 0x72656d6f74737563; //   customer
const OCCURRED_WORD: u64 = 0x646572727563636f; //   occurred
const PROPERTI_WORD: u64 = 0x69747265706f7270; //   properti
const IDEMPOTE_WORD: u64 = 0x65746f706d656469; //   idempote
const NCYKEY_WORD: u64 = 0x2279654b79636e; //       ncyKey"
const METERID_WORD: u64 = 0x226449726574656d; //    meterId"
const VALUE_WORD: u64 = 0x2265756c6176; //          value"
const ID_WORD: u32 = 0x226449; //                   Id"
const AT_WORD: u32 = 0x227441; //                   At"
const ES_WORD: u32 = 0x227365; //                   es"

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
 * Reads the item that is here; the key of a header, of so many bytes, is at HEADER_KEY. Returns the position
 * behind it; 0 when the js engine has to read any part of it.
 */
export function readItem(at: i32, item: i32, headerBytes: i32 = 0): i32 {
  store<f64>(item + OCCURRED_AT, NaN);
  store<i32>(item + PROPERTIES_AT, TEXTS);
  store<i32>(item + PROPERTIES_BYTES, 2);
  let seen = headerBytes > 0 ? KEY & BITS : 0;
  let named = 0;
  for (let next = take(at, 123); next != 0; next = isBare(at, COMMA) ? at + 1 : take(at, COMMA)) {
    const field = fieldAt(next);
    // A name that comes twice, or an unknown one, is left to the js engine, which uses JSON.parse.
    if (field == 0 || (named & field & BITS) != 0) return 0;
    named |= field;
    at = next + 2 + (field >>> 8);
    at = isBare(at, COLON) ? at + 1 : take(at, COLON);
    if (at == 0) return 0;
    at = readField(field, at, item);
    if (at == 0) return 0;
    if (field == KEY && headerBytes > 0 && !isHeaderKey(item, headerBytes)) return 0;
  }
  if (((seen | named) & REQUIRED) != REQUIRED) return 0;
  const pair = pairOf(
    load<i32>(item + CUSTOMER_AT),
    load<i32>(item + CUSTOMER_BYTES),
    load<i32>(item + METER_AT),
    load<i32>(item + METER_BYTES),
  );
  store<i32>(item + PAIR_AT, pair);
  if (pair == 0) return 0;
  return isBare(at, CLOSE) ? at + 1 : take(at, CLOSE);
}

/** The field whose quoted name is here; 0 for any other name. */
function fieldAt(at: i32): i32 {
  if (load<u8>(at) != 34) return 0;
  const word = load<u64>(at + 1);
  const end = load<u32>(at + 9) & 0xff_ffff;
  if (word == CUSTOMER_WORD) return end == ID_WORD ? CUSTOMER : 0;
  if (word == METERID_WORD) return METER;
  if ((word & 0xffff_ffff_ffff) == VALUE_WORD) return VALUE;
  if (word == IDEMPOTE_WORD) return (load<u64>(at + 9) & 0xff_ffff_ffff_ffff) == NCYKEY_WORD ? KEY : 0;
  if (word == OCCURRED_WORD) return end == AT_WORD ? OCCURRED : 0;
  return word == PROPERTI_WORD && end == ES_WORD ? PROPERTIES : 0;
}

function readField(field: i32, at: i32, item: i32): i32 {
  if (field == VALUE) return keepValue(readNumber(at), item);
  if (field == PROPERTIES) return keepProperties(at, item);
  const end = readText(at);
  const bytes = end - ++at;
  if (end == 0 || bytes == 0 || isWide) return 0;
  if (field == OCCURRED) {
    const ms = timestampMs(at, bytes);
    store<f64>(item + OCCURRED_AT, ms);
    return ms >= 0 ? end + 1 : 0;
  }
  if (field == KEY) {
    if (bytes > KEY_BYTES_MAX) return 0;
    return keep(item + KEY_AT, at, bytes);
  }
  if (bytes > NAME_BYTES_MAX) return 0;
  return keep(item + (field == CUSTOMER ? CUSTOMER_AT : METER_AT), at, bytes);
}

/** Place and length of a text. Returns the position behind its closing quote. */
function keep(place: i32, at: i32, bytes: i32): i32 {
  store<i32>(place, at);
  store<i32>(place + 4, bytes);
  return at + bytes + 1;
}

/** Values that a client computed with doubles have up to 17 digits, and are rounded as in the js engine. */
function keepValue(end: i32, item: i32): i32 {
  if (end == 0 || integerDigits > INTEGER_DIGITS_MAX) return 0;
  if (fractionDigits <= FRACTION_DIGITS_MAX) {
    store<i32>(item + VALUE_AT, numberAt);
    store<i32>(item + VALUE_BYTES, numberBytes);
    return end;
  }
  const bytes = rounds ? roundDecimal(numberAt, numberBytes, fractionDigits, textsEnd) : 0;
  if (bytes == 0) return 0;
  store<i32>(item + VALUE_AT, textsEnd);
  store<i32>(item + VALUE_BYTES, bytes);
  textsEnd += bytes;
  return end;
}

/** True when the item's key is the key in the header. */
function isHeaderKey(item: i32, bytes: i32): bool {
  return load<i32>(item + KEY_BYTES) == bytes && isSame(load<i32>(item + KEY_AT), HEADER_KEY, bytes);
}

function keepProperties(at: i32, item: i32): i32 {
  const end = readProperties(at, textsEnd);
  if (end == 0) return 0;
  store<i32>(item + PROPERTIES_AT, writtenAt);
  store<i32>(item + PROPERTIES_BYTES, writtenEnd - writtenAt);
  textsEnd = writtenEnd;
  return end;
}
