import { daysInMonth } from './timestamp.ts';

/** The form that error messages recommend. */
export const TIMESTAMP_FORM = '2026-11-01T12:30:00.000Z';

/**
 * Why `timestampMs` rejects a text, and the form that it accepts: the end of "`occurredAt` …". Undefined if
 * it accepts the text.
 */
export function timestampFault(text: string): string | undefined {
  const fault = faultOf(text);
  return fault === undefined ? undefined : `${fault}; the right form is ${TIMESTAMP_FORM}`;
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const CLOCK = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d*))?)?/;
const OFFSET = /^(?:[Zz]|[+-](\d\d):?(\d\d))$/;
const FRACTION_DIGITS_MAX = 9;

function faultOf(text: string): string | undefined {
  if (/^-?\d+(?:\.\d*)?$/.test(text)) return 'is a number, not a date and a time of day';
  const date = DATE.exec(text);
  if (!date) return 'does not begin with a date such as 2026-11-01';
  const [, year, month, day] = date.map(Number);
  if (!isDay(year, month, day)) return 'names a day that does not exist';
  if (text.length <= 11) return 'has no time of day';
  if (!/[Tt ]/.test(text.charAt(10))) return 'has no T between date and time of day';
  const clock = CLOCK.exec(text.slice(11));
  if (!clock) return 'has no time of day such as 12:30:00';
  return clockFault(clock) ?? offsetFault(text.slice(11 + clock[0].length));
}

function clockFault([, hour, minute, second = '0', fraction]: RegExpExecArray): string | undefined {
  const exists = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59;
  if (!exists) return 'names a time of day that does not exist';
  if (fraction === '') return 'has a point without fraction digits';
  return fraction !== undefined && fraction.length > FRACTION_DIGITS_MAX
    ? 'has more than nine fraction digits'
    : undefined;
}

const SHOWN_CHARS = 16;

function offsetFault(text: string): string | undefined {
  if (text === '') return 'has no offset from UTC: end it with Z, or an offset such as +01:00';
  const offset = OFFSET.exec(text);
  if (!offset) {
    const shown = JSON.stringify(text.slice(0, SHOWN_CHARS).toWellFormed());
    return `ends with ${shown}, which is no offset from UTC such as Z or +01:00`;
  }
  const [, hours = '0', minutes = '0'] = offset;
  const exists = Number(hours) <= 23 && Number(minutes) <= 59;
  return exists ? undefined : 'has an offset from UTC beyond 23:59';
}

function isDay(year = 0, month = 0, day = 0): boolean {
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
}
