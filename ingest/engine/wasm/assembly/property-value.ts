// The value of a property, written as it is stored: numbers and booleans are texts behind a tag.

import { put, putByte } from './bytes';
import { copyText, digitEnds, numberAt, numberBytes, readBoolean, readNumber } from './scanner';

const VALUE_BYTES_MAX: i32 = 256;
/** `"\u0000n` and `"\u0000b`: the tags of schemas/stored/event-row.ts as they are in JSON. */
export const NUMBER_TAG: u64 = 0x6e30303030755c22;
export const BOOLEAN_TAG: u64 = 0x6230303030755c22;

const QUOTE: u8 = 34;
const DOT: u8 = 46;
const ZERO: u8 = 48;

/** Where the value that was written last ends. */
export let valueEnd: i32 = 0;

/** Bytes are never fewer than characters, so a text that has room in bytes is short enough. */
export function readValue(at: i32, to: i32): i32 {
  const byte = load<u8>(at);
  if (byte == QUOTE) {
    const end = copyText(at, to);
    // The closing quote is copied, too.
    valueEnd = to + end + 1 - at;
    return load<u8>(end) == QUOTE && end - at <= VALUE_BYTES_MAX + 1 ? end + 1 : 0;
  }
  if (byte == 116 || byte == 102) {
    const end = readBoolean(at);
    // Before anything is written: how far depends on where it ends.
    if (end == 0) return 0;
    store<u64>(to, BOOLEAN_TAG);
    store<u64>(to + 8, load<u64>(at));
    valueEnd = putByte(QUOTE, to + 8 + end - at);
    return end;
  }
  // Mostly few digits without a point: as they were sent.
  const digits = ctz(digitEnds(at) | (1 << 16));
  if ((digits == 1 || byte != ZERO) && <u32>(digits - 1) < 15 && load<u8>(at + digits) != DOT) {
    store<u64>(to, NUMBER_TAG);
    v128.store(to + 8, v128.load(at));
    valueEnd = putByte(QUOTE, to + 8 + digits);
    return at + digits;
  }
  const end = readNumber(at);
  if (end == 0 || numberBytes > VALUE_BYTES_MAX) return 0;
  store<u64>(to, NUMBER_TAG);
  valueEnd = putByte(QUOTE, put(numberAt, numberBytes, to + 8));
  return end;
}
