import { order, put, putByte } from './bytes';
import * as cursor from './cursor';
import { MEMBER_BYTES, MEMBERS } from './places';

const PROPERTIES_MAX: i32 = 32;
const KEY_BYTES_MAX: i32 = 64;
const VALUE_BYTES_MAX: i32 = 256;

// A member: where its key and value are, and which kind of value it is.
const KEY_AT: i32 = 0;
const KEY_BYTES: i32 = 4;
const VALUE_AT: i32 = 8;
const VALUE_BYTES: i32 = 12;
const KIND: i32 = 16;
const TEXT: i32 = 0;
const NUMBER: i32 = 1;
const BOOLEAN: i32 = 2;

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;
/** `"\u0000n` and `"\u0000b`: the tags of schemas/stored/event-row.ts as they are in JSON. */
const NUMBER_TAG: u64 = 0x6e30303030755c22;
const BOOLEAN_TAG: u64 = 0x6230303030755c22;

/** Reads properties and writes them sorted by key and tagged. Returns their end, 0 if they are not ours. */
export function readProperties(to: i32): i32 {
  if (!cursor.take(OPEN)) return 0;
  let count = 0;
  if (load<u8>(cursor.at) != CLOSE) {
    do {
      if (count == PROPERTIES_MAX || !readMember(count)) return 0;
      if (!moveToItsPlace(count++)) return 0;
    } while (cursor.take(COMMA));
  }
  if (!cursor.take(CLOSE)) return 0;
  return write(count, to);
}

function readMember(index: i32): bool {
  const member = MEMBERS + index * MEMBER_BYTES;
  // Beyond ASCII the order of bytes is not the order of UTF-16, by which keys are sorted.
  if (!cursor.readText() || cursor.isWide) return false;
  if (cursor.textBytes == 0 || cursor.textBytes > KEY_BYTES_MAX) return false;
  store<i32>(member + KEY_AT, cursor.textAt);
  store<i32>(member + KEY_BYTES, cursor.textBytes);
  if (!cursor.take(COLON)) return false;
  const kind = readValue();
  store<i32>(member + KIND, kind);
  store<i32>(member + VALUE_AT, cursor.textAt);
  store<i32>(member + VALUE_BYTES, cursor.textBytes);
  return kind >= 0;
}

/** Bytes are never fewer than characters, so a text that has room in bytes is short enough. */
function readValue(): i32 {
  const byte = load<u8>(cursor.at);
  if (byte == QUOTE) return cursor.readText() && cursor.textBytes <= VALUE_BYTES_MAX ? TEXT : -1;
  if (byte == 116 || byte == 102) return cursor.readBoolean() ? BOOLEAN : -1;
  return cursor.readNumber() && cursor.textBytes <= VALUE_BYTES_MAX ? NUMBER : -1;
}

/** Clients mostly send them in order. False when the key is there already: which of the two counts? */
function moveToItsPlace(index: i32): bool {
  for (let place = index; place > 0; place--) {
    const member = MEMBERS + place * MEMBER_BYTES;
    const before = member - MEMBER_BYTES;
    const keys = order(
      load<i32>(before + KEY_AT),
      load<i32>(before + KEY_BYTES),
      load<i32>(member + KEY_AT),
      load<i32>(member + KEY_BYTES),
    );
    if (keys == 0) return false;
    if (keys < 0) return true;
    for (let word = 0; word < MEMBER_BYTES; word += 4) {
      const held = load<i32>(member + word);
      store<i32>(member + word, load<i32>(before + word));
      store<i32>(before + word, held);
    }
  }
  return true;
}

function write(count: i32, to: i32): i32 {
  to = putByte(OPEN, to);
  for (let index = 0; index < count; index++) {
    const member = MEMBERS + index * MEMBER_BYTES;
    if (index > 0) to = putByte(COMMA, to);
    to = putByte(QUOTE, to);
    to = put(load<i32>(member + KEY_AT), load<i32>(member + KEY_BYTES), to);
    store<u16>(to, 0x3a22); // ":
    to = beginValue(load<i32>(member + KIND), to + 2);
    to = put(load<i32>(member + VALUE_AT), load<i32>(member + VALUE_BYTES), to);
    to = putByte(QUOTE, to);
  }
  return putByte(CLOSE, to);
}

function beginValue(kind: i32, to: i32): i32 {
  if (kind == TEXT) return putByte(QUOTE, to);
  store<u64>(to, kind == NUMBER ? NUMBER_TAG : BOOLEAN_TAG);
  return to + 8;
}

/** Where the value of a member is in written properties, behind its tag; 0 when there is none. */
export function valueOf(properties: i32, bytes: i32, key: i32, keyBytes: i32): i32 {
  const end = properties + bytes - 1;
  let member = properties + 1;
  while (member < end) {
    const keyEnd = closingQuote(member + 1);
    const value = keyEnd + 2;
    if (keyEnd - member - 1 == keyBytes && order(member + 1, keyBytes, key, keyBytes) == 0) {
      const word = load<u64>(value);
      return word == NUMBER_TAG || word == BOOLEAN_TAG ? value + 8 : value + 1;
    }
    member = closingQuote(value + 1) + 2;
  }
  return 0;
}

/** Written properties as a client sees them: numbers and booleans without quote and tag. Not for `{}`. */
export function putUntagged(properties: i32, to: i32): i32 {
  let at = properties;
  do {
    // The brace or comma in front, and the key up to its colon.
    const value = closingQuote(at + 2) + 2;
    to = put(at, value - at, to);
    const end = closingQuote(value + 1);
    const word = load<u64>(value);
    const isTagged = word == NUMBER_TAG || word == BOOLEAN_TAG;
    to = isTagged ? put(value + 8, end - value - 8, to) : put(value, end + 1 - value, to);
    at = end + 1;
  } while (load<u8>(at) == COMMA);
  return putByte(CLOSE, to);
}

/** No text in the wasm engine contains a quote. */
export function closingQuote(from: i32): i32 {
  while (load<u8>(from) != QUOTE) from++;
  return from;
}
