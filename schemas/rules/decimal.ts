/**
 * Exact decimals as canonical text: no exponent, no leading or trailing zeros, no negative zero.
 * At most 15 integer and 12 fraction digits (contract, §1).
 */
const INTEGER_DIGITS_MAX = 15;
const FRACTION_DIGITS_MAX = 12;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The canonical text of a JSON number's own text, or undefined when it does not fit. */
export function canonicalDecimal(text: string): string | undefined {
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign = '', integer = '', fraction = '', exponentText = '0'] = match;
  const digits = integer + fraction;
  const first = digits.search(/[1-9]/);
  if (first < 0) return '0';
  // Not /0+$/, which looks at every zero from every zero before it: 700,000 of them took 410 s.
  const significant = digits.slice(first, digits.search(/[1-9]0*$/) + 1);
  const exponent = Number(exponentText);
  if (!Number.isSafeInteger(exponent)) return undefined;
  // The value is 0.<significant> × 10^point.
  const point = integer.length - first + exponent;
  const fractionDigits = significant.length - point;
  if (point > INTEGER_DIGITS_MAX || fractionDigits > FRACTION_DIGITS_MAX) return undefined;
  return sign + placePoint(significant, point);
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
