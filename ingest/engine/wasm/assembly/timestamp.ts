import { isDigit } from './scanner';

const DASH: u8 = 45;
const COLON: u8 = 58;
const DOT: u8 = 46;
const Z: u8 = 90;
const PLUS: u8 = 43;
const OFFSET_BYTES: i32 = 6;
const FRACTION_BYTES_MAX: i32 = 10;
const NO_NUMBER: i32 = -1_000_000;
/** What is no timestamp of this form, or lies before 1970. */
export const NO_TIME: f64 = -1;

/** The text of the hour that was read last, in two words that overlap, and its beginning in milliseconds. */
let hourFront: u64 = 0;
let hourBack: u64 = 0;
let hourMs: f64 = 0;

/**
 * `2026-01-01T00:00:00Z`, with or without nine fraction digits, or an offset as `+01:00`, in milliseconds.
 * Other forms are not ours. Most events of a batch are of one hour: what is in front of its minutes is read
 * once.
 */
export function timestampMs(at: i32, bytes: i32): f64 {
  if (bytes < 20 || bytes > 35) return NO_TIME;
  const isSameHour = load<u64>(at) == hourFront && load<u64>(at + 5) == hourBack;
  if (!isSameHour && !readHour(at)) return NO_TIME;
  if (bytes == 24) {
    const inHour = msInHour(at + 13);
    return inHour < 0 ? NO_TIME : hourMs + <f64>inHour;
  }
  const isUtc = load<u8>(at + bytes - 1) == Z;
  const zone = at + bytes - (isUtc ? 1 : OFFSET_BYTES);
  const offset = isUtc ? 0 : offsetMinutes(zone);
  if (offset == NO_NUMBER || load<u8>(at + 13) != COLON || load<u8>(at + 16) != COLON) return NO_TIME;
  const minute = digits(at + 14, 2);
  const second = digits(at + 17, 2);
  if (minute < 0 || minute > 59 || second < 0 || second > 59) return NO_TIME;
  const ms = fractionMs(at + 19, zone);
  return ms < 0 ? NO_TIME : hourMs + <f64>((minute - offset) * 60_000 + second * 1000 + ms);
}

/** Of `+01:00`; NO_NUMBER for any other text. */
function offsetMinutes(at: i32): i32 {
  const sign = load<u8>(at);
  if ((sign != PLUS && sign != DASH) || load<u8>(at + 3) != COLON) return NO_NUMBER;
  const hours = digits(at + 1, 2);
  const minutes = digits(at + 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return NO_NUMBER;
  return sign == DASH ? -(hours * 60 + minutes) : hours * 60 + minutes;
}

/** `:00:00.` */
const MINUTES_FORM: u64 = 0x2e30303a30303a;
/** `000Z` */
const FRACTION_FORM: u32 = 0x5a303030;

/**
 * `:00:00.000Z`, as most clients write it: all digits at once, in place of one by one. Below 0 for any other
 * text.
 */
function msInHour(at: i32): i32 {
  const front = (load<u64>(at) ^ MINUTES_FORM) & 0xff_ffff_ffff_ffff;
  const back = load<u32>(at + 7) ^ FRACTION_FORM;
  // What a byte differs by from its place in the form is its digit: at most 9, and 0 at what is no digit.
  const beyondFront = ((front + 0x7f_7676_7f76_767f) | front) & 0x80_8080_8080_8080;
  const beyondBack = ((back + 0x7f767676) | back) & 0x80808080;
  if (beyondFront != 0 || beyondBack != 0) return -1;
  const minute = <i32>((front >>> 8) & 15) * 10 + <i32>((front >>> 16) & 15);
  const second = <i32>((front >>> 32) & 15) * 10 + <i32>((front >>> 40) & 15);
  if (minute > 59 || second > 59) return -1;
  const ms = <i32>(back & 15) * 100 + <i32>((back >>> 8) & 15) * 10 + <i32>((back >>> 16) & 15);
  return minute * 60_000 + second * 1000 + ms;
}

/** False, and nothing is changed, for any other text than `2026-01-01T00`. */
function readHour(at: i32): bool {
  if (load<u8>(at + 4) != DASH || load<u8>(at + 7) != DASH || load<u8>(at + 10) != 84) return false;
  const year = digits(at, 4);
  const month = digits(at + 5, 2);
  const day = digits(at + 8, 2);
  const hour = digits(at + 11, 2);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  if (hour < 0 || hour > 23) return false;
  hourFront = load<u64>(at);
  hourBack = load<u64>(at + 5);
  hourMs = <f64>(daysSince1970(year, month, day) * 24 + hour) * 3_600_000;
  return true;
}

/** Far below 0 when any of them is no digit. */
function digits(at: i32, count: i32): i32 {
  let value = 0;
  for (let end = at + count; at < end; at++) {
    const byte = load<u8>(at);
    if (!isDigit(byte)) return NO_NUMBER;
    value = value * 10 + <i32>(byte - 48);
  }
  return value;
}

/** From the point to the zone, nine digits at most. Those beyond milliseconds are cut off. */
function fractionMs(at: i32, end: i32): i32 {
  if (at == end) return 0;
  if (at + 1 >= end || end - at > FRACTION_BYTES_MAX || load<u8>(at) != DOT) return -1;
  let ms = 0;
  let weight = 100;
  for (at++; at < end; at++) {
    const byte = load<u8>(at);
    if (!isDigit(byte)) return -1;
    ms += <i32>(byte - 48) * weight;
    weight /= 10;
  }
  return ms;
}

function daysIn(year: i32, month: i32): i32 {
  if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

const DAY_MS: f64 = 86_400_000;

/** `2026-01-01T00:00:00.000Z`, of years 0 to 9999 (H. Hinnant, chrono-compatible algorithms). */
export function putTimestamp(ms: f64, to: i32): i32 {
  const day = floor<f64>(ms / DAY_MS);
  const shifted = <i32>day + 719_468;
  const era = shifted / 146_097;
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365;
  const dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100);
  const fromMarch = (5 * dayOfYear + 2) / 153;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  to = putDigits(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4, DASH, to);
  to = putDigits(month, 2, DASH, to);
  to = putDigits(dayOfYear - (153 * fromMarch + 2) / 5 + 1, 2, 84, to);
  const rest = <i32>(ms - day * DAY_MS);
  to = putDigits(rest / 3_600_000, 2, COLON, to);
  to = putDigits((rest / 60_000) % 60, 2, COLON, to);
  to = putDigits((rest / 1_000) % 60, 2, DOT, to);
  return putDigits(rest % 1_000, 3, 90, to);
}

/** So many digits, and the number they are. */
function putDigits(value: i32, count: i32, behind: u8, to: i32): i32 {
  for (let at = to + count - 1; at >= to; at--) {
    store<u8>(at, <u8>(48 + (value % 10)));
    value /= 10;
  }
  store<u8>(to + count, behind);
  return to + count + 1;
}

/** As in schemas/primitives/timestamp.ts. */
function daysSince1970(year: i32, month: i32, day: i32): i32 {
  const shifted = month <= 2 ? year - 1 : year;
  const era = shifted / 400;
  const yearOfEra = shifted - era * 400;
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
