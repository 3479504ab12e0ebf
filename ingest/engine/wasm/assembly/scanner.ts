// Reads JSON as the wasm engine understands it: nothing that two readers could understand differently. Each
// function gets the position to read at, and returns the position behind what it read: 0 when the js engine
// has to read it. Positions are locals on their whole way: globals are memory.

/** Whether the text that was read last holds a byte beyond ASCII or U+007F, a control character too. */
export let isWide: bool = false;
/** The canonical digits of the number that was read last. */
export let numberAt: i32 = 0;
export let numberBytes: i32 = 0;
/** Its digits before the point, and those behind it up to the last that is not 0. */
export let integerDigits: i32 = 0;
export let fractionDigits: i32 = 0;

const SPACE: u8 = 32;
const QUOTE: u8 = 34;
const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const BACKSLASH: u8 = 92;
const DELETE: u8 = 127;

let lineFeed: u8 = 10;

/** `feeds`: whether a line feed is white space; it is none where it ends an item. */
export function beginScan(feeds: bool): void {
  lineFeed = feeds ? 10 : SPACE;
}

export function skipSpace(at: i32): i32 {
  while (load<u8>(at) <= SPACE && isSpace(load<u8>(at))) at++;
  return at;
}

function isSpace(byte: u8): bool {
  return byte == SPACE || byte == lineFeed || byte == 13 || byte == 9;
}

/**
 * Whether this byte is here with no space behind it, as it mostly is: asked in place, where a call of `take`
 * for each comma and colon is a fifth of all reading.
 */
export function isBare(at: i32, byte: u8): bool {
  return load<u8>(at) == byte && load<u8>(at + 1) > SPACE;
}

/** This byte and the space before and behind it. */
export function take(at: i32, byte: u8): i32 {
  at = skipSpace(at);
  return load<u8>(at) == byte ? skipSpace(at + 1) : 0;
}

/**
 * A string without escapes. Returns where its closing quote is. The zero byte behind the body is a control
 * character: no search goes beyond.
 */
export function readText(at: i32): i32 {
  if (load<u8>(at) != QUOTE) return 0;
  let wide = 0;
  for (let from = at + 1; ; from += 16) {
    const bytes = v128.load(from);
    const ends = endsIn(bytes);
    // One more than these has the highest bit set; UTF-8 has no byte 0xff.
    const beyond = i8x16.bitmask(i8x16.add(bytes, i8x16.splat(1)));
    if (ends == 0) {
      wide |= beyond;
      continue;
    }
    // The end itself is ASCII.
    isWide = (wide | (beyond & (ends ^ (ends - 1)))) != 0;
    const end = from + ctz(ends);
    return load<u8>(end) == QUOTE ? end : 0;
  }
}

/**
 * Copies such a string with its opening quote up to the first byte that is none of its text, and returns
 * where that is: what it is is asked by a branch of the caller, since a choice made here would make all that
 * follows wait for it. Up to 15 bytes behind its copy are overwritten.
 */
export function copyText(at: i32, to: i32): i32 {
  store<u8>(to, QUOTE);
  const shift = to - at;
  let from = at + 1;
  let ends: i32;
  while (true) {
    const bytes = v128.load(from);
    v128.store(from + shift, bytes);
    ends = endsIn(bytes);
    if (ends != 0) break;
    from += 16;
  }
  return from + ctz(ends);
}

/** The same for a name: its text is printable ASCII. */
export function copyName(at: i32, to: i32): i32 {
  store<u8>(to, QUOTE);
  const shift = to - at;
  let from = at + 1;
  let ends: i32;
  while (true) {
    v128.store(from + shift, v128.load(from));
    ends = nameEnds(from);
    if (ends != 0) break;
    from += 16;
  }
  return from + ctz(ends);
}

/** A bit for each quote, backslash and control character. */
function endsIn(bytes: v128): i32 {
  return i8x16.bitmask(v128.or(isQuoteOrBackslash(bytes), i8x16.le_u(bytes, i8x16.splat(SPACE - 1))));
}

/** Of the 16 bytes from here: the same, and for each byte beyond ASCII and U+007F. */
export function nameEnds(from: i32): i32 {
  const bytes = v128.load(from);
  // As signed numbers those beyond ASCII are below the control characters.
  const others = v128.or(i8x16.lt_s(bytes, i8x16.splat(SPACE)), i8x16.eq(bytes, i8x16.splat(DELETE)));
  return i8x16.bitmask(v128.or(others, isQuoteOrBackslash(bytes)));
}

/** Of the 16 bytes from here: a bit for each that is no digit. */
export function digitEnds(from: i32): i32 {
  return i8x16.bitmask(i8x16.gt_u(i8x16.sub(v128.load(from), i8x16.splat(ZERO)), i8x16.splat(9)));
}

function isQuoteOrBackslash(bytes: v128): v128 {
  return v128.or(i8x16.eq(bytes, i8x16.splat(QUOTE)), i8x16.eq(bytes, i8x16.splat(BACKSLASH)));
}

/**
 * A number without exponent, of any length: what follows one is no comma and no end. Its canonical text is a
 * part of its own: no zero at the end, no minus at 0.
 */
export function readNumber(from: i32): i32 {
  let at = from;
  if (load<u8>(at) == MINUS) at++;
  const digits = at;
  if (load<u8>(at) == ZERO) at++;
  else {
    while (isDigit(load<u8>(at))) at++;
    if (at == digits) return 0;
  }
  let isZero = load<u8>(digits) == ZERO;
  let end = at;
  integerDigits = at - digits;
  fractionDigits = 0;
  if (load<u8>(at) == DOT) {
    const fraction = ++at;
    for (; isDigit(load<u8>(at)); at++) if (load<u8>(at) != ZERO) end = at + 1;
    if (at == fraction) return 0;
    if (end > fraction) {
      isZero = false;
      fractionDigits = end - fraction;
    }
  }
  numberAt = isZero ? digits : from;
  numberBytes = isZero ? 1 : end - from;
  return at;
}

export function isDigit(byte: u8): bool {
  return byte - ZERO <= 9;
}

const TRUE: u32 = 0x65757274;
const FALS: u32 = 0x736c6166;

/** `true` or `false`. */
export function readBoolean(at: i32): i32 {
  const word = load<u32>(at);
  if (word == TRUE) return at + 4;
  return word == FALS && load<u8>(at + 4) == 101 ? at + 5 : 0;
}
