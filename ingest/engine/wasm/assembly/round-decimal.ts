import { put, putByte } from './bytes';

export const INTEGER_DIGITS_MAX: i32 = 15;
export const FRACTION_DIGITS_MAX: i32 = 12;

const MINUS: u8 = 45;
const DOT: u8 = 46;
const ZERO: u8 = 48;
const FIVE: u8 = 53;
const NINE: u8 = 57;

/**
 * Writes a canonical number of more than twelve fraction digits to `to`, rounded half-even to twelve: the
 * rule of `roundedDecimal` in schemas/primitives/decimal.ts. Returns its length; 0 where it would need one
 * more digit in front.
 */
export function roundDecimal(from: i32, bytes: i32, fractionDigits: i32, to: i32): i32 {
  const cut = from + bytes - (fractionDigits - FRACTION_DIGITS_MAX);
  let end = put(from, cut - from, to);
  if (roundsUp(cut, from + bytes) && !addOne(to, end)) return 0;
  while (load<u8>(end - 1) == ZERO) end--;
  if (load<u8>(end - 1) == DOT) end--;
  // Less than half a unit, with its sign.
  if (load<u8>(to) == MINUS && end == to + 2 && load<u8>(to + 1) == ZERO) end = putByte(ZERO, to);
  return end - to;
}

/** Of what lies in the middle the even neighbour is taken. The last digit is no 0. */
function roundsUp(cut: i32, end: i32): bool {
  const next = load<u8>(cut);
  if (next != FIVE || end > cut + 1) return next >= FIVE;
  return (load<u8>(cut - 1) & 1) == 1;
}

/** To the last digit, with a carry over the point. False when the first one would overflow. */
function addOne(from: i32, end: i32): bool {
  for (let at = end - 1; at >= from; at--) {
    const byte = load<u8>(at);
    if (byte == DOT) continue;
    if (byte == MINUS) return false;
    if (byte < NINE) {
      store<u8>(at, byte + 1);
      return true;
    }
    store<u8>(at, ZERO);
  }
  return false;
}
