// Properties with the names of an event before, in the same order, as clients mostly send them. What was
// found of those names once, that they are sorted, each comes once, where its value begins, is not searched
// again: one comparison of 16 bytes reads a name, and all but tags is copied as it was sent. Members behind
// those are read on from there.

import { putByte } from './bytes';
import { keepMember, keepWord } from './member-order';
import { KNOWN_NAMES, MEMBER_AT, MEMBER_BYTES, MEMBER_KEY_AT, MEMBER_KEY_BYTES, MEMBERS } from './places';
import { readValue, valueEnd } from './property-value';

// A name, from the comma or brace before it up to its value: as it was sent, how long that is, how many
// spaces it begins with, and how long it is without any.
const NAME_BYTES: i32 = 32;
const SENT_BYTES: i32 = 16;
const SPACES: i32 = 20;
const OWN_BYTES: i32 = 24;
const SENT_BYTES_MAX: i32 = 16;

const SPACE: u8 = 32;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const CLOSE: u8 = 125;

let known: i32 = 0;
/** How many members with known names were read, up to where, and where what was written of them ends. */
export let knownCount: i32 = 0;
export let knownAt: i32 = 0;
export let knownEnd: i32 = 0;

/**
 * Of the members that were just read, which are in order; those before `from` are known. Names too long to
 * be compared end the list; of events without properties the names before stay.
 */
export function learnNames(from: i32, count: i32): void {
  if (count == 0) return;
  for (known = from; known < count; known++) {
    const member = MEMBERS + known * MEMBER_BYTES;
    const quote = load<i32>(member + MEMBER_KEY_AT) - 1;
    const end = quote + load<i32>(member + MEMBER_KEY_BYTES) + 3;
    if (end - quote > SENT_BYTES_MAX || load<u8>(end - 1) != COLON) return;
    let start = quote;
    let to = end;
    while (to - start < SENT_BYTES_MAX && load<u8>(start - 1) == SPACE) start--;
    while (to - start < SENT_BYTES_MAX && load<u8>(to) == SPACE) to++;
    const name = KNOWN_NAMES + known * NAME_BYTES;
    v128.store(name, v128.load(start));
    store<i32>(name + SENT_BYTES, to - start);
    store<i32>(name + SPACES, quote - start);
    store<i32>(name + OWN_BYTES, end - quote);
  }
}

/**
 * Reads members with known names and writes them to `to`, tagged. Returns the position behind the brace that
 * ends them; 0 when others follow, at `knownAt`. Up to 15 bytes behind them are overwritten.
 */
export function readKnown(at: i32, to: i32): i32 {
  const end = KNOWN_NAMES + known * NAME_BYTES;
  let member = MEMBERS;
  let name = KNOWN_NAMES;
  for (; name < end; name += NAME_BYTES) {
    const sentBytes = load<i32>(name + SENT_BYTES);
    const isEqual = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(name)));
    if ((isEqual | (-1 << sentBytes)) != -1) break;
    v128.store(to, v128.load(at + load<i32>(name + SPACES)));
    const behind = readValue(at + sentBytes, to + load<i32>(name + OWN_BYTES));
    if (behind == 0) break;
    store<i32>(member, to, MEMBER_AT);
    member += MEMBER_BYTES;
    const byte = load<u8>(behind);
    if (byte != COMMA) {
      if (byte != CLOSE) break;
      knownEnd = putByte(CLOSE, valueEnd);
      return behind + 1;
    }
    to = putByte(COMMA, valueEnd);
    at = behind + 1;
  }
  knownCount = (name - KNOWN_NAMES) >>> 5;
  knownAt = at;
  knownEnd = to;
  return 0;
}

/** Puts those that were read in order, for others to come among them. */
export function keepKnown(): void {
  for (let index = 0; index < knownCount; index++) {
    const at = load<i32>(MEMBERS + index * MEMBER_BYTES + MEMBER_AT);
    const keyBytes = load<i32>(KNOWN_NAMES + index * NAME_BYTES + OWN_BYTES) - 3;
    keepMember(index, at, at + 1, keyBytes);
    keepWord(index);
  }
}
