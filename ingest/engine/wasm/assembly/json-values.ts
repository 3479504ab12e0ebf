// Skips JSON whose value does not matter, but which has to be JSON: as scanner.ts, 0 where it may be none.

import { readBoolean, readNumber, take } from './scanner';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
const COLON: u8 = 58;
const OPEN_LIST: u8 = 91;
const BACKSLASH: u8 = 92;
const CLOSE_LIST: u8 = 93;
const OPEN: u8 = 123;
const CLOSE: u8 = 125;
const NULL: u32 = 0x6c6c756e;
const DEPTH_MAX: i32 = 32;

/** Values of a body that were read or skipped so far, apart from attributes. */
export let valueCount: i32 = 0;

export function countValue(): void {
  valueCount++;
}

export function beginCount(): void {
  valueCount = 0;
}

export function skipValue(at: i32, depth: i32 = 0): i32 {
  valueCount++;
  const byte = load<u8>(at);
  if (byte == QUOTE) return skipText(at);
  if (byte == OPEN) return skipObject(at, depth + 1);
  if (byte == OPEN_LIST) return skipList(at, depth + 1);
  if (byte == 116 || byte == 102) return readBoolean(at);
  if (byte == 110) return load<u32>(at) == NULL ? at + 4 : 0;
  return readNumber(at);
}

function skipObject(at: i32, depth: i32): i32 {
  at = depth <= DEPTH_MAX ? take(at, OPEN) : 0;
  if (at == 0 || load<u8>(at) == CLOSE) return at == 0 ? 0 : at + 1;
  for (let next = at; next != 0; next = take(at, COMMA)) {
    at = load<u8>(next) == QUOTE ? skipText(next) : 0;
    if (at != 0) at = take(at, COLON);
    if (at != 0) at = skipValue(at, depth);
    if (at == 0) return 0;
  }
  return take(at, CLOSE);
}

function skipList(at: i32, depth: i32): i32 {
  at = depth <= DEPTH_MAX ? take(at, OPEN_LIST) : 0;
  if (at == 0 || load<u8>(at) == CLOSE_LIST) return at == 0 ? 0 : at + 1;
  for (let next = at; next != 0; next = take(at, COMMA)) {
    at = skipValue(next, depth);
    if (at == 0) return 0;
  }
  return take(at, CLOSE_LIST);
}

/** A string with or without escapes; it begins with a quote. Returns the position behind it. */
export function skipText(at: i32): i32 {
  while (true) {
    const byte = load<u8>(++at);
    if (byte == QUOTE) return at + 1;
    // The zero byte behind the body too.
    if (byte < 32) return 0;
    if (byte != BACKSLASH) continue;
    const escaped = load<u8>(++at);
    if (escaped == 117) {
      for (let end = at + 4; at < end; ) if (!isHex(load<u8>(++at))) return 0;
    } else if (!isEscape(escaped)) return 0;
  }
}

function isHex(byte: u8): bool {
  const lower = byte | 32;
  return byte - 48 <= 9 || (lower >= 97 && lower <= 102);
}

/** `"`, `/`, `\`, `b`, `f`, `n`, `r`, `t`. */
function isEscape(byte: u8): bool {
  return (
    byte == QUOTE ||
    byte == 47 ||
    byte == BACKSLASH ||
    byte == 98 ||
    byte == 102 ||
    byte == 110 ||
    byte == 114 ||
    byte == 116
  );
}
