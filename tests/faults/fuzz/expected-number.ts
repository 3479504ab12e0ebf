import { UNIT_DIGITS } from '../../support/exact.ts';

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
