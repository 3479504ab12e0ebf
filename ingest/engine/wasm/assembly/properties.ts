import { isSame, put, putByte, putLong } from './bytes';
import { keepKnown, knownAt, knownCount, knownEnd, learnNames, readKnown } from './known-names';
import { keepMember, memberAt, putInOrder, sortMembers } from './member-order';
import { MEMBER_AT, MEMBER_BYTES, MEMBERS } from './places';
import { BOOLEAN_TAG, NUMBER_TAG, readValue, valueEnd } from './property-value';
import { copyName, digitEnds, isBare, nameEnds, skipSpace, take } from './scanner';

const PROPERTIES_MAX: i32 = 32;
const KEY_BYTES_MAX: i32 = 64;

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const MINUS: u8 = 45;
const ZERO: u8 = 48;
const COLON: u8 = 58;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;
const QUOTE_COLON: u16 = 0x3a22;
/** Where a search in 16 bytes ends at the latest. */
const END_OF_16: i32 = -1 << 16;

/** Where the properties that were written last are. */
export let writtenAt: i32 = 0;
export let writtenEnd: i32 = 0;

/**
 * Reads properties and writes them to `to`, sorted by key and tagged: each as it is read, and all of them
 * once more behind, in order, where they did not come in order. Returns the position behind them, 0 if they
 * are not ours.
 */
export function readProperties(at: i32, to: i32): i32 {
  if (load<u8>(at) != OPEN) return 0;
  writtenAt = to;
  const behind = readKnown(at + 1, putByte(OPEN, to));
  if (behind != 0) {
    writtenEnd = knownEnd;
    return isBare(behind - 1, CLOSE) ? behind : skipSpace(behind);
  }
  at = readOthers(skipSpace(knownAt), knownEnd, knownCount);
  if (at == 0) return 0;
  return isBare(at, CLOSE) ? at + 1 : take(at, CLOSE);
}

/** Those behind so many with known names. Returns the position behind the last. */
function readOthers(at: i32, to: i32, known: i32): i32 {
  let isSorted = true;
  let count = known;
  keepKnown();
  let next = known == 0 && load<u8>(at) == CLOSE ? 0 : at;
  for (; next != 0; next = isBare(at, COMMA) ? at + 1 : take(at, COMMA)) {
    if (count == PROPERTIES_MAX) return 0;
    at = readMember(next, to, count);
    if (at == 0) return 0;
    if (!putInOrder(count)) isSorted = false;
    to = putByte(COMMA, memberEnd);
    count++;
  }
  writtenEnd = count == 0 ? to + 1 : to;
  if (isSorted) learnNames(known, count);
  else if (!sortMembers(count)) return 0;
  else writeInOrder(count);
  store<u8>(writtenEnd - 1, CLOSE);
  return at;
}

/** Where the member that was written last ends. */
let memberEnd: i32 = 0;

/** Mostly one load finds where its name ends, and its value, too, where that is a number of few digits. */
function readMember(at: i32, to: i32, index: i32): i32 {
  if (load<u8>(at) != QUOTE) return 0;
  const keyBytes = ctz(nameEnds(at + 1) | END_OF_16);
  const value = at + keyBytes + 3;
  if (keyBytes == 0 || load<u16>(value - 2) != QUOTE_COLON) return readSlowly(at, to, index);
  keepMember(index, to, at + 1, keyBytes);
  store<u8>(to, QUOTE);
  v128.store(to, v128.load(at, 1), 1);
  to += keyBytes + 3;
  store<u16>(to - 2, QUOTE_COLON);
  const sign = <i32>(load<u8>(value) == MINUS);
  const digits = ctz((digitEnds(at + 1) | END_OF_16) >>> (keyBytes + 2 + sign));
  const numeral = sign + digits;
  const byte = load<u8>(value + numeral);
  const isShort = digits > 0 && (byte == COMMA || byte == CLOSE);
  if (!isShort || (numeral > 1 && load<u8>(value + sign) == ZERO)) return readLast(skipSpace(value), to);
  store<u64>(to, NUMBER_TAG);
  v128.store(to, v128.load(value), 8);
  memberEnd = putByte(QUOTE, to + numeral + 8);
  return value + numeral;
}

/** A member with a long name, or with spaces behind it. */
function readSlowly(at: i32, to: i32, index: i32): i32 {
  const end = copyName(at, to);
  const bytes = end - at - 1;
  if (load<u8>(end) != QUOTE || bytes == 0 || bytes > KEY_BYTES_MAX) return 0;
  keepMember(index, to, at + 1, bytes);
  at = take(end + 1, COLON);
  return at == 0 ? 0 : readLast(at, putByte(COLON, to + bytes + 2));
}

/** The value of the last member. */
function readLast(at: i32, to: i32): i32 {
  at = readValue(at, to);
  memberEnd = valueEnd;
  return at;
}

/** Each with the comma behind it. */
function writeInOrder(count: i32): void {
  store<i32>(MEMBERS + count * MEMBER_BYTES, writtenEnd, MEMBER_AT);
  writtenAt = writtenEnd;
  let to = putByte(OPEN, writtenAt);
  for (let place = 0; place < count; place++) {
    const member = memberAt(place);
    const from = load<i32>(member + MEMBER_AT);
    to = putLong(from, load<i32>(member + MEMBER_BYTES + MEMBER_AT) - from, to);
  }
  writtenEnd = to;
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
