/**
 * Decimals of the judge: units of 10^-12 as bigints. Written apart from the product's own arithmetic on
 * purpose, so that a fault there cannot hide here.
 */
export const UNIT_DIGITS = 12;

/** Units of a JSON number's own text. Throws when it is no number or has more than twelve fraction digits. */
export function units(text: string): bigint {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = UNIT_DIGITS - fraction.length + Number(exponent);
  let digits = integer + fraction;
  if (!/^\d+$/.test(digits) || !Number.isInteger(shift)) throw new Error(`not a number: ${text}`);
  if (shift < 0) {
    if (!/^0*$/.test(digits.slice(shift))) throw new Error(`finer than 10^-${UNIT_DIGITS}: ${text}`);
    digits = digits.slice(0, shift) || '0';
  }
  const size = BigInt(digits) * 10n ** BigInt(Math.max(0, shift));
  return text.startsWith('-') ? -size : size;
}

/** Plain decimal text without exponent or trailing zeros. */
export function plainText(value: bigint): string {
  const size = value < 0n ? -value : value;
  const one = 10n ** BigInt(UNIT_DIGITS);
  const fraction = (size % one).toString().padStart(UNIT_DIGITS, '0').replace(/0+$/, '');
  const text = `${size / one}${fraction === '' ? '' : `.${fraction}`}`;
  return value < 0n ? `-${text}` : text;
}

/** The product of two decimals in units; what is finer than a unit must be zero. */
export function product(left: bigint, right: bigint): bigint {
  const one = 10n ** BigInt(UNIT_DIGITS);
  if ((left * right) % one !== 0n) throw new Error('the product has more than twelve fraction digits');
  return (left * right) / one;
}

/** JSON with every number marked and kept as its own text, so that no double rounds it: see `numberText`. */
export function parseExact(json: string): unknown {
  return JSON.parse(
    json.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
      return token.startsWith('"') ? token : `"\\u0000${token}"`;
    }),
  );
}

/** The text of a number out of `parseExact`, or undefined. The product stores no text with a NUL in it. */
export function numberText(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith('\u0000') ? value.slice(1) : undefined;
}

/** What `parseExact` makes of this number. */
export function markedNumber(text: string): string {
  return `\u0000${text}`;
}
