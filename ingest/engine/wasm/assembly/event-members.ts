// The data of a CloudEvent: its members, with the place of each value.

import { isSame } from './bytes';
import {
  BOOLEAN,
  KIND,
  MEMBER_BYTES,
  MEMBERS,
  MEMBERS_MAX,
  NAME_AT,
  NAME_BYTES,
  NONE,
  NUMBER,
  ODD,
  TEXT,
  VALUE_AT,
  VALUE_BYTES,
} from './cloud-event-places';
import { countValue, skipText, skipValue } from './json-values';
import { isBare, numberAt, numberBytes, readBoolean, readNumber, readText, take } from './scanner';

const QUOTE: u8 = 34;
const MINUS: u8 = 45;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;
/** `0.000000`: JavaScript writes what begins so with an exponent. */
const TINY: u64 = 0x3030303030302e30;

let count: i32 = 0;

export function beginData(): void {
  count = 0;
}

/** Reads an object. Returns the position behind it. */
export function readData(at: i32): i32 {
  at = take(at, OPEN);
  if (at == 0 || load<u8>(at) == CLOSE) return at == 0 ? 0 : at + 1;
  for (let next = at; next != 0; next = isBare(at, COMMA) ? at + 1 : take(at, COMMA)) {
    const end = count < MEMBERS_MAX ? readText(next) : 0;
    if (end == 0) return 0;
    countValue();
    const member = MEMBERS + count++ * MEMBER_BYTES;
    store<i32>(member + NAME_AT, next + 1);
    store<i32>(member + NAME_BYTES, end - next - 1);
    at = isBare(end + 1, COLON) ? end + 2 : take(end + 1, COLON);
    if (at != 0) at = readMember(at, member);
    if (at == 0) return 0;
  }
  return isBare(at, CLOSE) ? at + 1 : take(at, CLOSE);
}

/** The one of this name; 0 where there is none. The last of several counts, as in JavaScript. */
export function findMember(name: i32, bytes: i32): i32 {
  for (let member = MEMBERS + (count - 1) * MEMBER_BYTES; member >= MEMBERS; member -= MEMBER_BYTES) {
    if (load<i32>(member + NAME_BYTES) == bytes && isSame(load<i32>(member + NAME_AT), name, bytes)) {
      return member;
    }
  }
  return 0;
}

function readMember(at: i32, member: i32): i32 {
  const byte = load<u8>(at);
  if (byte == QUOTE) {
    const end = readText(at);
    if (end == 0) return keep(member, ODD, at, skipText(at));
    return keep(member, TEXT, at + 1, end) + 1;
  }
  if (byte == 116 || byte == 102) return keep(member, BOOLEAN, at, readBoolean(at));
  if (byte == MINUS || byte - 48 <= 9) {
    const end = readNumber(at);
    return keep(member, isPlain(at, end) ? NUMBER : ODD, at, end);
  }
  return keep(member, NONE, at, skipValue(at));
}

function keep(member: i32, kind: i32, at: i32, end: i32): i32 {
  store<i32>(member + KIND, kind);
  store<i32>(member + VALUE_AT, at);
  store<i32>(member + VALUE_BYTES, end - at);
  return end;
}

/** Whether the number that was just read is written as JavaScript writes it. */
export function isPlain(at: i32, end: i32): bool {
  if (numberAt != at || numberBytes != end - at) return false;
  return load<u64>(load<u8>(at) == MINUS ? at + 1 : at) != TINY;
}
