import { isSame, put, putByte } from './bytes';
import {
  BOOLEAN_TAG,
  forgetManyNames,
  knownEnd,
  learnNames,
  NUMBER_TAG,
  readKnown,
  VALUE_BYTES_MAX,
} from './known-names';
import { memberAt, putInOrder, sortMembers } from './member-order';
import { MEMBER_BYTES, MEMBER_KEY_AT, MEMBER_KEY_BYTES, MEMBERS } from './places';
import {
  isBare,
  isWide,
  numberAt,
  numberBytes,
  readBoolean,
  readNumber,
  readText,
  skipSpace,
  take,
} from './scanner';

const PROPERTIES_MAX: i32 = 32;
const KEY_BYTES_MAX: i32 = 64;

// A member: where its key and value are, and which kind of value it is.
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

/** Where the properties that were written last end. */
export let writtenEnd: i32 = 0;

/**
 * Reads properties and writes them to `to`, sorted by key and tagged: each as it is read, and all of them
 * again where they did not come in order. Returns the position behind them, 0 if they are not ours.
 */
export function readProperties(at: i32, to: i32): i32 {
  const behind = readKnown(at, to);
  if (behind != 0) {
    writtenEnd = knownEnd;
    return isBare(behind - 1, CLOSE) ? behind : skipSpace(behind);
  }
  let count = 0;
  let isSorted = true;
  let end = putByte(OPEN, to);
  at = take(at, OPEN);
  if (at == 0) return 0;
  let next = load<u8>(at) == CLOSE ? 0 : at;
  for (; next != 0; next = isBare(at, COMMA) ? at + 1 : take(at, COMMA)) {
    if (count == PROPERTIES_MAX) return 0;
    at = readMember(next, count);
    if (at == 0) return 0;
    if (!putInOrder(count)) isSorted = false;
    if (isSorted) end = writeMember(MEMBERS + count * MEMBER_BYTES, count, end);
    count++;
  }
  if (isSorted) learnNames(count);
  else {
    forgetManyNames();
    if (!sortMembers(count)) return 0;
    end = putByte(OPEN, to);
    for (let place = 0; place < count; place++) end = writeMember(memberAt(place), place, end);
  }
  writtenEnd = putByte(CLOSE, end);
  return isBare(at, CLOSE) ? at + 1 : take(at, CLOSE);
}

function readMember(at: i32, index: i32): i32 {
  const member = MEMBERS + index * MEMBER_BYTES;
  const end = readText(at);
  const bytes = end - ++at;
  // Beyond ASCII the order of bytes is not the order of UTF-16, by which keys are sorted.
  if (end == 0 || isWide || bytes == 0 || bytes > KEY_BYTES_MAX) return 0;
  store<i32>(member + MEMBER_KEY_AT, at);
  store<i32>(member + MEMBER_KEY_BYTES, bytes);
  at = isBare(end + 1, COLON) ? end + 2 : take(end + 1, COLON);
  return at == 0 ? 0 : readValue(at, member);
}

/** Bytes are never fewer than characters, so a text that has room in bytes is short enough. */
function readValue(at: i32, member: i32): i32 {
  const byte = load<u8>(at);
  if (byte == QUOTE) {
    const end = readText(at);
    return end == 0 ? 0 : keepMember(member, TEXT, at + 1, end - at - 1, end + 1);
  }
  if (byte == 116 || byte == 102) {
    const end = readBoolean(at);
    return end == 0 ? 0 : keepMember(member, BOOLEAN, at, end - at, end);
  }
  const end = readNumber(at);
  return end == 0 ? 0 : keepMember(member, NUMBER, numberAt, numberBytes, end);
}

function keepMember(member: i32, kind: i32, at: i32, bytes: i32, end: i32): i32 {
  store<i32>(member + KIND, kind);
  store<i32>(member + VALUE_AT, at);
  store<i32>(member + VALUE_BYTES, bytes);
  return bytes <= VALUE_BYTES_MAX ? end : 0;
}

function writeMember(member: i32, place: i32, to: i32): i32 {
  if (place > 0) to = putByte(COMMA, to);
  to = putByte(QUOTE, to);
  to = put(load<i32>(member + MEMBER_KEY_AT), load<i32>(member + MEMBER_KEY_BYTES), to);
  store<u16>(to, 0x3a22); // ":
  to = beginValue(load<i32>(member + KIND), to + 2);
  to = put(load<i32>(member + VALUE_AT), load<i32>(member + VALUE_BYTES), to);
  return putByte(QUOTE, to);
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
    if (keyEnd - member - 1 == keyBytes && isSame(member + 1, key, keyBytes)) {
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
