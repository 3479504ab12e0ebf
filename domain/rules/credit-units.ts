/** Credits have up to 24 fraction digits: a rate times an amount of usage, 12 each. */
const FRACTION_DIGITS = 24;

/** Units of 10^-24. The text must be a plain decimal of at most so many fraction digits. */
export function creditUnits(text: string): bigint {
  const isNegative = text.startsWith('-');
  const [integer = '0', fraction = ''] = (isNegative ? text.slice(1) : text).split('.');
  const units = BigInt(integer + fraction.padEnd(FRACTION_DIGITS, '0').slice(0, FRACTION_DIGITS));
  return isNegative ? -units : units;
}

/** The canonical text of units of 10^-24. */
export function creditText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(FRACTION_DIGITS + 1, '0');
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, '');
  const text = `${digits.slice(0, -FRACTION_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
  return units < 0n ? `-${text}` : text;
}

export function smaller(a: bigint, b: bigint): bigint {
  if (a < b) return a;
  return b;
}

export function larger(a: bigint, b: bigint): bigint {
  if (a > b) return a;
  return b;
}
