import { gunzipSync } from 'node:zlib';
import { UNIT_DIGITS } from '../../support/exact.ts';

/**
 * JSON as the judge reads it: every text, names too, begins with `$`, and every number is its own text behind
 * `#`. So nothing can be taken for something else, whatever a client wrote, and no double rounds anything.
 */
export type Tagged = null | boolean | string | Tagged[] | { [name: string]: Tagged };

/** Undefined when the bytes are no JSON in UTF-8. A byte order mark is none. */
export function readTagged(bytes: Uint8Array): { value: Tagged } | undefined {
  try {
    const text = UTF_8.decode(bytes);
    JSON.parse(text);
    return { value: JSON.parse(text.replace(STRING_OR_NUMBER, tagged)) as Tagged };
  } catch {
    return undefined;
  }
}

/** The text at the current position, or undefined. */
export function textOf(value: Tagged | undefined): string | undefined {
  return typeof value === 'string' && value.startsWith('$') ? value.slice(1) : undefined;
}

/** The number's own text. */
export function numberOf(value: Tagged | undefined): string | undefined {
  return typeof value === 'string' && value.startsWith('#') ? value.slice(1) : undefined;
}

/** By the name that the client wrote. */
export function memberOf(object: Record<string, Tagged>, name: string): Tagged | undefined {
  return Object.hasOwn(object, `$${name}`) ? object[`$${name}`] : undefined;
}

export function isTaggedObject(value: Tagged | undefined): value is Record<string, Tagged> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Half of a surrogate pair, or U+0000: what cannot be stored. */
export function isUnsound(text: string): boolean {
  return /\p{Surrogate}|\0/u.test(text);
}

/** True when a name or a text anywhere inside is unsound. */
export function hasUnsoundText(root: Tagged): boolean {
  const rest: Tagged[] = [root];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === 'string' && isUnsound(value)) return true;
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.keys(value).some(isUnsound)) return true;
    for (const inner of Object.values(value)) rest.push(inner);
  }
  return false;
}

/** What gzip holds, at most so many bytes; undefined when it is no gzip. */
export function inflated(bytes: Buffer, bytesMax: number): Buffer | 'too large' | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : undefined;
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** In a text that is known to be JSON. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*/g;

function tagged(token: string): string {
  return token.startsWith('"') ? `"$${token.slice(1)}` : `"#${token}"`;
}

const INTEGER_DIGITS = 15;

/**
 * Units of 10^-12 of a JSON number's text; undefined beyond 15 integer or 12 fraction digits. By the place of
 * the highest and lowest digit that is not 0, so that 1e999999999 costs nothing.
 */
export function exactValue(text: string): bigint | undefined {
  const { size, lowest } = read(text);
  return lowest < -UNIT_DIGITS ? undefined : unitsOf(text, size, lowest);
}

/** The same, but that what is finer than a unit is rounded: the nearest, of two as near the even one. */
export function roundedValue(text: string): bigint | undefined {
  const { size, lowest } = read(text);
  const beyond = -UNIT_DIGITS - lowest;
  if (beyond <= 0) return unitsOf(text, size, lowest);
  if (beyond > size.length) return 0n;
  const [kept, rest] = [size.slice(0, size.length - beyond), size.slice(size.length - beyond)];
  const half = `5${'0'.repeat(rest.length - 1)}`;
  const isOdd = /[13579]$/.test(kept);
  const up = rest > half || (rest === half && isOdd);
  return unitsOf(text, String(BigInt(kept) + (up ? 1n : 0n)), -UNIT_DIGITS);
}

/** In the one spelling without an exponent, every digit of it; undefined beyond so many characters. */
export function wholeText(text: string, charsMax: number): string | undefined {
  const { size, lowest } = read(text);
  if (size === '') return '0';
  if (lowest > charsMax || -lowest > charsMax) return undefined;
  const fractionDigits = Math.max(0, -lowest);
  const digits = (size + '0'.repeat(Math.max(0, lowest))).padStart(fractionDigits + 1, '0');
  const [integer, fraction] = [
    digits.slice(0, digits.length - fractionDigits),
    digits.slice(-fractionDigits),
  ];
  const plain = `${text.startsWith('-') ? '-' : ''}${integer}${fractionDigits > 0 ? `.${fraction}` : ''}`;
  return plain.length > charsMax ? undefined : plain;
}

/** Digits without zeros at either end, '' for 0, and the power of ten of the last of them. */
function read(text: string): { size: string; lowest: number } {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (integer + fraction).replace(/^0+/, '');
  if (digits === '') return { size: '', lowest: 0 };
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return { size: digits.slice(0, end), lowest: Number(exponent) - fraction.length + digits.length - end };
}

function unitsOf(text: string, size: string, lowest: number): bigint | undefined {
  if (size === '') return 0n;
  if (lowest + size.length > INTEGER_DIGITS) return undefined;
  const units = BigInt(size) * 10n ** BigInt(lowest + UNIT_DIGITS);
  if (units >= 10n ** BigInt(INTEGER_DIGITS + UNIT_DIGITS)) return undefined;
  return text.startsWith('-') ? -units : units;
}
