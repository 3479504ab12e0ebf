const QUOTE: u8 = 34;
const BACKSLASH: u8 = 92;

/** Of the text that `text` has read. */
export let textAt: i32 = 0;
export let textBytes: i32 = 0;

/**
 * Reads a text from behind its opening quote and leaves its place and length; escapes are replaced where they
 * are, by fewer bytes. Returns where its closing quote was, or 0 for what is not read here.
 */
export function text(at: i32): i32 {
  let from = at;
  textAt = at;
  // The tag of a number or boolean, schemas/stored/event-row.ts: \u0000
  if (load<u32>(at) == 0x3030755c && load<u16>(at + 4) == 0x3030) {
    textAt = at + 5;
    store<u8>(textAt, 0);
    from = at + 6;
  }
  const stop = stopAt(from);
  textBytes = stop - textAt;
  const found = load<u8>(stop);
  if (found == QUOTE) return stop;
  return found == BACKSLASH ? unescape(stop) : 0;
}

/** The same of a name, in which there is no escape. */
export function plainText(at: i32): i32 {
  const stop = stopAt(at);
  return load<u8>(stop) == QUOTE ? stop : 0;
}

/** The first quote, backslash or control character, such as the line feed at the end of a line. */
function stopAt(from: i32): i32 {
  let at = from;
  let stops = stopsIn(at);
  while (stops == 0) {
    at += 16;
    stops = stopsIn(at);
  }
  return at + ctz(stops);
}

function stopsIn(at: i32): i32 {
  const bytes = v128.load(at);
  const quotes = i8x16.eq(bytes, i8x16.splat(QUOTE));
  const backslashes = i8x16.eq(bytes, i8x16.splat(BACKSLASH));
  const controls = i8x16.lt_u(bytes, i8x16.splat(32));
  return i8x16.bitmask(v128.or(v128.or(quotes, backslashes), controls));
}

/** From the first backslash on. */
function unescape(first: i32): i32 {
  let from = first;
  let to = first;
  while (load<u8>(from) == BACKSLASH) {
    const kind = load<u8>(from + 1);
    const code = kind == 117 ? ascii(from + 2) : single(kind);
    if (code < 0) return 0;
    store<u8>(to++, <u8>code);
    from += kind == 117 ? 6 : 2;
    const stop = stopAt(from);
    memory.copy(to, from, stop - from);
    to += stop - from;
    from = stop;
  }
  textBytes = to - textAt;
  return load<u8>(from) == QUOTE ? from : 0;
}

/** Below 0 for one that JSON does not have. */
function single(kind: u8): i32 {
  switch (kind) {
    case 34:
    case 92:
    case 47:
      return kind;
    case 98:
      return 8;
    case 102:
      return 12;
    case 110:
      return 10;
    case 114:
      return 13;
    case 116:
      return 9;
    default:
      return -1;
  }
}

/** Four hex digits of a character that is one byte; below 0 for others. */
function ascii(at: i32): i32 {
  if (load<u16>(at) != 0x3030) return -1;
  const high = hex(load<u8>(at + 2));
  const low = hex(load<u8>(at + 3));
  return high < 8 && low < 16 ? (high << 4) | low : -1;
}

function hex(digit: u8): i32 {
  if (digit >= 48 && digit <= 57) return digit - 48;
  const letter = digit | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : 255;
}

/** `use_` and 16 bytes in base32: 30 characters. */
export function putId(from: i32, to: i32): void {
  const high = bswap(load<u64>(from));
  const low = bswap(load<u64>(from + 8));
  store<u32>(to, 0x5f657375);
  store<u64>(to + 4, eightFives(high >> 24));
  store<u64>(to + 12, eightFives((high << 16) | (low >> 48)));
  store<u64>(to + 20, eightFives(low >> 8));
  store<u16>(to + 28, <u16>eightFives(low << 32));
}

/** Of the lowest 40 bits: split in halves three times, all of them at once in one word. */
function eightFives(bits: u64): u64 {
  const halves = ((bits & 0xfffff00000) << 12) | (bits & 0xfffff);
  const tens = ((halves & 0x000ffc00_000ffc00) << 6) | (halves & 0x000003ff_000003ff);
  const fives = ((tens & 0x03e003e0_03e003e0) << 3) | (tens & 0x001f001f_001f001f);
  const areFigures = ((fives + 0x66666666_66666666) & 0x80808080_80808080) >> 7;
  return bswap(fives + 0x61616161_61616161 - areFigures * 73);
}

/** No byte behind the copy is touched: there another column begins. */
export function copy(from: i32, bytes: i32, to: i32): i32 {
  if (bytes < 8) {
    for (let at = 0; at < bytes; at++) store<u8>(to + at, load<u8>(from + at));
    return to + bytes;
  }
  const last = bytes - 8;
  for (let at = 0; at < last; at += 8) store<u64>(to + at, load<u64>(from + at));
  store<u64>(to + last, load<u64>(from + last));
  return to + bytes;
}

/** A length, then so many bytes: a String of ClickHouse's. */
export function copyString(from: i32, bytes: i32, to: i32): i32 {
  return copy(from, bytes, varUint(bytes, to));
}

export function varUint(value: u32, to: i32): i32 {
  while (value > 127) {
    store<u8>(to++, <u8>((value & 127) | 128));
    value >>= 7;
  }
  store<u8>(to, <u8>value);
  return to + 1;
}

export function varUintBytes(value: u32): i32 {
  let bytes = 1;
  while (value > 127) {
    value >>= 7;
    bytes++;
  }
  return bytes;
}

/** A constant is in memory as UTF-16; these are all ASCII. */
export function putConstant(constant: string, to: i32): i32 {
  const from = <i32>changetype<usize>(constant);
  to = varUint(constant.length, to);
  for (let at = 0; at < constant.length; at++) store<u8>(to + at, load<u8>(from + (at << 1)));
  return to + constant.length;
}

export function isSame(a: i32, b: i32, bytes: i32): bool {
  let at = 0;
  for (; at + 8 <= bytes; at += 8) if (load<u64>(a + at) != load<u64>(b + at)) return false;
  for (; at < bytes; at++) if (load<u8>(a + at) != load<u8>(b + at)) return false;
  return true;
}

/** Below 0 when a comes before b, byte by byte; 0 when they are the same. */
export function order(a: i32, aBytes: i32, b: i32, bBytes: i32): i32 {
  const bytes = min(aBytes, bBytes);
  let at = 0;
  for (; at + 8 <= bytes; at += 8) {
    const left = bswap(load<u64>(a + at));
    const right = bswap(load<u64>(b + at));
    if (left != right) return left < right ? -1 : 1;
  }
  for (; at < bytes; at++) {
    const difference = <i32>load<u8>(a + at) - <i32>load<u8>(b + at);
    if (difference != 0) return difference;
  }
  return aBytes - bBytes;
}
