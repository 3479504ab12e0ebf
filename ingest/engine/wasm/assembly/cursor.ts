// Reads JSON as the wasm engine understands it: nothing that two readers could understand differently.

export let at: i32 = 0;
/** The text that was read last, without its quotes, or the canonical digits of a number. */
export let textAt: i32 = 0;
export let textBytes: i32 = 0;
/** Whether that text holds a byte beyond ASCII. */
export let isWide: bool = false;

const QUOTE: u8 = 34;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const BACKSLASH: u8 = 92;
/**
 * Of the number that was read last: its digits before the point, and those behind it up to the last that is
 * not 0.
 */
export let integerDigits: i32 = 0;
export let fractionDigits: i32 = 0;

let lineFeed: u8 = 10;

/** `feeds`: whether a line feed is white space; it is none where it ends an item. */
export function begin(from: i32, feeds: bool): void {
  at = from;
  lineFeed = feeds ? 10 : 32;
}

export function skipSpace(): void {
  for (;;) {
    const byte = load<u8>(at);
    if (byte != 32 && byte != lineFeed && byte != 13 && byte != 9) return;
    at++;
  }
}

/** Passes one byte. */
export function pass(): void {
  at++;
}

/** Takes this byte and the space before and behind it. */
export function take(byte: u8): bool {
  skipSpace();
  if (load<u8>(at) != byte) return false;
  at++;
  skipSpace();
  return true;
}

/** A string without escapes. The zero byte behind the body is a control character: no search goes beyond. */
export function readText(): bool {
  if (load<u8>(at) != QUOTE) return false;
  const from = at + 1;
  let end = from;
  let seen: u8 = 0;
  for (;;) {
    const byte = load<u8>(end);
    if (byte == QUOTE) break;
    if (byte < 32 || byte == BACKSLASH) return false;
    seen |= byte;
    end++;
  }
  textAt = from;
  textBytes = end - from;
  isWide = seen > 127;
  at = end + 1;
  return true;
}

/**
 * A number without exponent, of any length: what follows one is no comma and no end. Its canonical text is a
 * part of its own: no zero at the end, no minus at 0.
 */
export function readNumber(): bool {
  const from = at;
  if (load<u8>(at) == MINUS) at++;
  const digits = at;
  let isZero = true;
  if (load<u8>(at) == ZERO) at++;
  else {
    for (; isDigit(load<u8>(at)); at++) isZero = false;
    if (at == digits) return false;
  }
  let end = at;
  integerDigits = at - digits;
  fractionDigits = 0;
  if (load<u8>(at) == DOT) {
    const fraction = ++at;
    for (; isDigit(load<u8>(at)); at++) if (load<u8>(at) != ZERO) end = at + 1;
    if (at == fraction) return false;
    if (end > fraction) {
      isZero = false;
      fractionDigits = end - fraction;
    }
  }
  textAt = isZero ? digits : from;
  textBytes = isZero ? 1 : end - from;
  return true;
}

export function isDigit(byte: u8): bool {
  return byte - ZERO <= 9;
}

const TRUE: u32 = 0x65757274;
const FALS: u32 = 0x736c6166;

/** `true` or `false`, as text. */
export function readBoolean(): bool {
  const word = load<u32>(at);
  if (word != TRUE && (word != FALS || load<u8>(at + 4) != 101)) return false;
  textAt = at;
  textBytes = word == TRUE ? 4 : 5;
  at += textBytes;
  return true;
}
