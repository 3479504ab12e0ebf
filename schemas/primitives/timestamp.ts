/**
 * Parses RFC 3339 to milliseconds, and also what common clients print: no seconds (Java), `+0000` and a
 * space for the T (Python), small t and z. Up to nine fraction digits, cut to milliseconds. Undefined when
 * the text is no such timestamp: timestampFault (timestamp-fault.ts) returns why. Written by hand since
 * Date.parse takes 5 × as long and accepts many other forms.
 */
export function timestampMs(text: string): number | undefined {
  if (text.length < CHARS_MIN || text.length > CHARS_MAX || !hasDateShape(text)) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const hasSeconds = text.charCodeAt(16) === COLON;
  const second = hasSeconds ? digits(text, 17, 19) : 0;
  const sound = year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!sound || !(hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 59)) {
    return undefined;
  }
  const fraction = hasSeconds ? readFraction(text) : { ms: 0, end: 16 };
  if (fraction === undefined) return undefined;
  const offsetMinutes = readOffset(text, fraction.end);
  if (offsetMinutes === undefined) return undefined;
  const minutes = (daysFromEpoch(year, month, day) * 24 + hour) * 60 + minute - offsetMinutes;
  return (minutes * 60 + second) * 1000 + fraction.ms;
}

/** `2026-01-01T00:00Z` and `2026-01-01T00:00:00.123456789+00:00`. */
const CHARS_MIN = 17;
const CHARS_MAX = 35;
const FRACTION_DIGITS_MAX = 9;

let lastMs = Number.NaN;
let lastText = '';

/**
 * ISO 8601 UTC with milliseconds. The last result is cached: the events of a request have the same
 * createdAt.
 */
export function timestampText(ms: number): string {
  if (ms !== lastMs) {
    lastText = new Date(ms).toISOString();
    lastMs = ms;
  }
  return lastText;
}

const DASH = 45;
const COLON = 58;
const DOT = 46;
const PLUS = 43;
const SPACE = 32;
const SMALL_T = 116;
const SMALL_Z = 122;

function hasDateShape(text: string): boolean {
  const separator = text.charCodeAt(10);
  return (
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(7) === DASH &&
    ((separator | 32) === SMALL_T || separator === SPACE) &&
    text.charCodeAt(13) === COLON
  );
}

/** -1000000 or less when any character is no digit. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1_000_000;
    value = value * 10 + digit;
  }
  return value;
}

function readFraction(text: string): { ms: number; end: number } | undefined {
  if (text.charCodeAt(19) !== DOT) return { ms: 0, end: 19 };
  let end = 20;
  let ms = 0;
  let weight = 100;
  for (; end < text.length; end++) {
    const digit = text.charCodeAt(end) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    ms += digit * weight;
    weight = weight > 1 ? weight / 10 : 0;
  }
  return end === 20 || end > 20 + FRACTION_DIGITS_MAX ? undefined : { ms, end };
}

function readOffset(text: string, at: number): number | undefined {
  const mark = text.charCodeAt(at);
  if ((mark | 32) === SMALL_Z) return at + 1 === text.length ? 0 : undefined;
  const minutesAt = text.charCodeAt(at + 3) === COLON ? at + 4 : at + 3;
  if ((mark !== PLUS && mark !== DASH) || text.length !== minutesAt + 2) return undefined;
  const hours = digits(text, at + 1, at + 3);
  const minutes = digits(text, minutesAt, minutesAt + 2);
  if (!(hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59)) return undefined;
  const offset = hours * 60 + minutes;
  return mark === DASH ? -offset : offset;
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days since 1970-01-01 of the proleptic Gregorian calendar (H. Hinnant, chrono-compatible algorithms). */
function daysFromEpoch(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
