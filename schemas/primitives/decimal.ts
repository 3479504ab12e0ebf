/**
 * Exact decimals as canonical text: no exponent, no leading or trailing zeros, no negative zero.
 * At most 15 integer and 12 fraction digits.
 */
const INTEGER_DIGITS_MAX = 15;
export const FRACTION_DIGITS_MAX = 12;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The canonical text of a JSON number's own text, or undefined when it does not fit. */
export function canonicalDecimal(text: string): string | undefined {
  const digits = digitsOf(text);
  if (!digits) return undefined;
  const { sign, significant, point } = digits;
  if (significant === '') return '0';
  if (isTooLarge(point) || significant.length - point > FRACTION_DIGITS_MAX) return undefined;
  return sign + placePoint(significant, point);
}

/**
 * The same, rounded half-even to 12 fraction digits: a computed double prints 17 significant ones. Undefined
 * for more than 15 integer digits.
 */
export function roundedDecimal(text: string): string | undefined {
  const digits = digitsOf(text);
  if (!digits || isTooLarge(digits.point)) return undefined;
  const { sign, significant, point } = digits;
  const kept = point + FRACTION_DIGITS_MAX;
  if (kept >= significant.length) return canonicalDecimal(text);
  if (kept < 0) return '0';
  const units = BigInt(significant.slice(0, kept)) + (roundsUp(significant, kept) ? 1n : 0n);
  return units < UNITS_END ? unitsText(sign === '' ? units : -units) : undefined;
}

/** With every digit, in at most this many characters; undefined if it is longer. */
export function wholeDecimal(text: string, charsMax: number): string | undefined {
  const digits = digitsOf(text);
  if (!digits) return undefined;
  const { sign, significant, point } = digits;
  if (significant === '') return '0';
  if (Math.max(point, significant.length - point) > charsMax) return undefined;
  const whole = sign + placePoint(significant, point);
  return whole.length > charsMax ? undefined : whole;
}

const UNITS_END = 10n ** BigInt(INTEGER_DIGITS_MAX + FRACTION_DIGITS_MAX);

/** Checked before digits are written: an exponent can stand for more zeros than fit in memory. */
function isTooLarge(point: number): boolean {
  // mutant: is-finite-removed
  return point > INTEGER_DIGITS_MAX;
}

/** A number as 0.<significant> × 10^point; its digits neither begin nor end with 0, and 0 has none. */
interface Digits {
  sign: string;
  significant: string;
  point: number;
}

function digitsOf(text: string): Digits | undefined {
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = match;
  const digits = integer + fraction;
  const first = digits.search(/[1-9]/);
  if (first < 0) return { sign: '', significant: '', point: 0 };
  // Not /0+$/, which looks at every zero from every zero before it: 700,000 of them took 410 s.
  const significant = digits.slice(first, digits.search(/[1-9]0*$/) + 1);
  return { sign, significant, point: integer.length - first + Number(exponent) };
}

/** Half to even: a value in the middle is rounded to the even neighbour. No digits end with 0. */
function roundsUp(significant: string, kept: number): boolean {
  const next = significant.charCodeAt(kept) - 48;
  if (next !== 5 || significant.length > kept + 1) return next >= 5;
  return kept > 0 && significant.charCodeAt(kept - 1) % 2 === 1;
}

function placePoint(significant: string, point: number): string {
  if (point <= 0) return `0.${'0'.repeat(-point)}${significant}`;
  if (point >= significant.length) return significant + '0'.repeat(point - significant.length);
  return `${significant.slice(0, point)}.${significant.slice(point)}`;
}

/** Units of 10^-12 as a bigint, for exact sums. The text must be a plain decimal. */
export function decimalUnits(text: string): bigint {
  const negative = text.startsWith('-');
  const [integer = '0', fraction = ''] = (negative ? text.slice(1) : text).split('.');
  const units = BigInt(integer + fraction.padEnd(FRACTION_DIGITS_MAX, '0').slice(0, FRACTION_DIGITS_MAX));
  return negative ? -units : units;
}

/** The canonical text of units of 10^-12. */
export function unitsText(units: bigint): string {
  const negative = units < 0n;
  const digits = (negative ? -units : units).toString().padStart(FRACTION_DIGITS_MAX + 1, '0');
  const integer = digits.slice(0, -FRACTION_DIGITS_MAX);
  const fraction = digits.slice(-FRACTION_DIGITS_MAX).replace(/0+$/, '');
  const text = fraction === '' ? integer : `${integer}.${fraction}`;
  return negative ? `-${text}` : text;
}
