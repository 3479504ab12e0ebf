// Properties with the names of an event before, in the same order, as clients mostly send them. What was
// found of those names once, that they are sorted, each comes once, where its value begins, is not searched
// again: one comparison of 16 bytes reads a name, and all but tags is copied as it was sent.

import { put, putByte } from './bytes';
import { KNOWN_NAMES, MEMBER_BYTES, MEMBER_KEY_AT, MEMBER_KEY_BYTES, MEMBERS } from './places';
import { copyText, numberAt, numberBytes, readBoolean, readNumber } from './scanner';

// A name, from the comma or brace before it up to its value: as it was sent, how long that is, how many
// spaces it begins with, and how long it is without any.
const NAME_BYTES: i32 = 32;
const SENT_BYTES: i32 = 16;
const SPACES: i32 = 20;
const OWN_BYTES: i32 = 24;
const SENT_BYTES_MAX: i32 = 16;
const FEW_NAMES: i32 = 8;

export const VALUE_BYTES_MAX: i32 = 256;
/** `"\u0000n` and `"\u0000b`: the tags of schemas/stored/event-row.ts as they are in JSON. */
export const NUMBER_TAG: u64 = 0x6e30303030755c22;
export const BOOLEAN_TAG: u64 = 0x6230303030755c22;

const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;

let known: i32 = 0;
/** Where what was written last ends. */
export let knownEnd: i32 = 0;

/**
 * Of the members that were just read, which are in order. Names too long to be compared end the list; of
 * events without properties the names before stay.
 */
export function learnNames(count: i32): void {
  if (count == 0) return;
  for (known = 0; known < count; known++) {
    const member = MEMBERS + known * MEMBER_BYTES;
    const quote = load<i32>(member + MEMBER_KEY_AT) - 1;
    const end = quote + load<i32>(member + MEMBER_KEY_BYTES) + 3;
    if (end - quote > SENT_BYTES_MAX || load<u8>(end - 1) != COLON) return;
    let from = quote;
    let to = end;
    while (to - from < SENT_BYTES_MAX && load<u8>(from - 1) == SPACE) from--;
    while (to - from < SENT_BYTES_MAX && load<u8>(to) == SPACE) to++;
    const name = KNOWN_NAMES + known * NAME_BYTES;
    v128.store(name, v128.load(from));
    store<i32>(name + SENT_BYTES, to - from);
    store<i32>(name + SPACES, quote - from);
    store<i32>(name + OWN_BYTES, end - quote);
  }
}

/** After names that did not come in order: to compare many of the known ones in vain costs too much. */
export function forgetManyNames(): void {
  if (known > FEW_NAMES) known = 0;
}

/**
 * Reads properties with known names and writes them to `to`, tagged. Returns the position behind them; 0 for
 * any others, which may be just as valid. Up to 15 bytes behind them are overwritten.
 */
export function readKnown(at: i32, to: i32): i32 {
  if (load<u8>(at) != OPEN) return 0;
  to = putByte(OPEN, to);
  at++;
  const end = KNOWN_NAMES + known * NAME_BYTES;
  for (let name = KNOWN_NAMES; name < end; name += NAME_BYTES) {
    const sentBytes = load<i32>(name + SENT_BYTES);
    const isEqual = i8x16.bitmask(i8x16.eq(v128.load(at), v128.load(name)));
    if ((isEqual | (-1 << sentBytes)) != -1) return 0;
    v128.store(to, v128.load(at + load<i32>(name + SPACES)));
    to += load<i32>(name + OWN_BYTES);
    at = readValue(at + sentBytes, to);
    if (at == 0) return 0;
    const behind = load<u8>(at++);
    to = putByte(behind, knownEnd);
    if (behind == COMMA) continue;
    knownEnd = to;
    return behind == CLOSE ? at : 0;
  }
  return 0;
}

function readValue(at: i32, to: i32): i32 {
  const byte = load<u8>(at);
  if (byte == QUOTE) {
    const end = copyText(at, to);
    knownEnd = to + end - at;
    // Both quotes are in it.
    return end - at <= VALUE_BYTES_MAX + 2 ? end : 0;
  }
  if (byte == 116 || byte == 102) {
    const end = readBoolean(at);
    // Before anything is written: how far depends on where it ends.
    if (end == 0) return 0;
    store<u64>(to, BOOLEAN_TAG);
    store<u64>(to + 8, load<u64>(at));
    knownEnd = putByte(QUOTE, to + 8 + end - at);
    return end;
  }
  const end = readNumber(at);
  if (end == 0 || numberBytes > VALUE_BYTES_MAX) return 0;
  store<u64>(to, NUMBER_TAG);
  knownEnd = putByte(QUOTE, put(numberAt, numberBytes, to + 8));
  return end;
}
