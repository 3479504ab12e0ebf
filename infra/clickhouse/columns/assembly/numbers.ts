/** Behind the number that was read; 0 for what is not read here. */
export let numberEnd: i32 = 0;
/** Of a value: units of 10^-12, 128 bits. */
export let unitsLow: u64 = 0;
export let unitsHigh: u64 = 0;

const ZERO: u8 = 48;
const MINUS: u8 = 45;
const POINT: u8 = 46;
const FRACTION_DIGITS: i32 = 12;
const ALL_UNITS: u64 = 1_000_000_000_000;
/** A u64 has no further digit behind it but 0 to 5. */
const LAST_WITH_DIGIT: u64 = 1_844_674_407_370_955_161;

/** A whole number without zeros in front, below 2^64. */
export function whole(at: i32): u64 {
  const value = digits(at);
  const count = numberEnd - at;
  if (count == 0 || (count > 1 && load<u8>(at) == ZERO)) numberEnd = 0;
  return value;
}

/** Whole milliseconds with at most 15 digits, which a double holds. */
export function timeMs(at: i32): i64 {
  const isNegative = load<u8>(at) == MINUS;
  const first = at + <i32>isNegative;
  const value = whole(first);
  if (numberEnd - first > 15 || (isNegative && value == 0)) numberEnd = 0;
  return isNegative ? -(<i64>value) : <i64>value;
}

/** A value with at most 12 digits behind the point. */
export function decimal(at: i32): void {
  const isNegative = load<u8>(at) == MINUS;
  multiply(whole(at + <i32>isNegative));
  if (numberEnd != 0 && load<u8>(numberEnd) == POINT) addFraction(numberEnd + 1);
  if (!isNegative) return;
  unitsLow = ~unitsLow + 1;
  unitsHigh = ~unitsHigh + (unitsLow == 0 ? 1 : 0);
}

function addFraction(at: i32): void {
  let units = digits(at);
  const count = numberEnd - at;
  if (count < 1 || count > FRACTION_DIGITS) {
    numberEnd = 0;
    return;
  }
  for (let digit = count; digit < FRACTION_DIGITS; digit++) units *= 10;
  const sum = unitsLow + units;
  if (sum < units) unitsHigh++;
  unitsLow = sum;
}

/** By 10^12. */
function multiply(value: u64): void {
  const low = <u64>(<u32>value) * (ALL_UNITS & 0xffffffff);
  const left = (value >> 32) * (ALL_UNITS & 0xffffffff);
  const right = <u64>(<u32>value) * (ALL_UNITS >> 32);
  const middle = (low >> 32) + <u64>(<u32>left) + <u64>(<u32>right);
  unitsLow = (middle << 32) | <u64>(<u32>low);
  unitsHigh = (value >> 32) * (ALL_UNITS >> 32) + (left >> 32) + (right >> 32) + (middle >> 32);
}

/** However many there are, up to 2^64; beyond it `numberEnd` is 0. */
function digits(first: i32): u64 {
  let at = first;
  let value: u64 = 0;
  while (at - first < 16) {
    const bytes = load<u64>(at);
    if (!areDigits(bytes)) break;
    value = value * 100_000_000 + eightDigits(bytes);
    at += 8;
  }
  for (let digit = <u64>load<u8>(at) - ZERO; digit < 10; digit = <u64>load<u8>(at) - ZERO) {
    if (value >= LAST_WITH_DIGIT && (value > LAST_WITH_DIGIT || digit > 5)) {
      numberEnd = 0;
      return 0;
    }
    value = value * 10 + digit;
    at++;
  }
  numberEnd = at;
  return value;
}

/** All eight bytes: none is below '0', none above '9'. */
function areDigits(bytes: u64): bool {
  const above = bytes + 0x4646464646464646;
  const below = bytes - 0x3030303030303030;
  return ((above | below) & 0x8080808080808080) == 0;
}

/** Pairs, then fours, then all eight at once in one word. */
function eightDigits(bytes: u64): u64 {
  let value = bytes - 0x3030303030303030;
  value = value * 10 + (value >> 8);
  const low = (value & 0x000000ff000000ff) * 0x000f424000000064;
  const high = ((value >> 16) & 0x000000ff000000ff) * 0x0000271000000001;
  return (low + high) >> 32;
}
