/** Amounts of the API have at most 12 fraction digits; a credit amount, which is a product of two, 24. */
const UNIT_DIGITS = 12;
export const CREDIT_DIGITS = 24;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;
/** An exponent of more than a day's bill of digits is no amount. */
const CHARS_MAX = 100;

/**
 * So many units of 10^-digits as a whole number; undefined for what is no decimal with at most so many
 * fraction digits.
 */
export function unitsOf(value: number | string, digits = UNIT_DIGITS): bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value) * scaleOf(digits);
  const text = typeof value === 'number' ? plainText(value) : value;
  const match = text.length <= CHARS_MAX ? DECIMAL.exec(text) : null;
  if (!match) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  if (fraction.length > digits) return undefined;
  const units = BigInt(whole + fraction.padEnd(digits, '0'));
  return sign === '-' ? -units : units;
}

/** The same of what people and programs give: rounded half-even to 12 fraction digits, as the server does. */
export function roundedUnitsOf(value: number | string): bigint | undefined {
  const text = typeof value === 'number' ? plainText(value) : value;
  if (typeof text !== 'string') return undefined;
  const point = text.indexOf('.');
  if (point < 0 || text.length - point - 1 <= UNIT_DIGITS) return unitsOf(value);
  if (text.length > CHARS_MAX || !DECIMAL.test(text)) return undefined;
  const end = point + 1 + UNIT_DIGITS;
  const units = unitsOf(text.slice(0, end));
  if (units === undefined) return undefined;
  const rest = text.slice(end).replace(/0+$/, '');
  const isOdd = units % 2n !== 0n;
  const isUp = rest > '5' || (rest === '5' && isOdd);
  if (!isUp) return units;
  return text.startsWith('-') ? units - 1n : units + 1n;
}

/** The shortest decimal text. */
export function textOfUnits(units: bigint, digits = UNIT_DIGITS): string {
  const scale = scaleOf(digits);
  const size = units < 0n ? -units : units;
  const fraction = String(size % scale)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${size / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The nearest number. */
export function numberOfUnits(units: bigint): number {
  const whole = units / scaleOf(UNIT_DIGITS);
  return whole * scaleOf(UNIT_DIGITS) === units ? Number(whole) : Number(textOfUnits(units));
}

const UNIT = 10n ** BigInt(UNIT_DIGITS);

function scaleOf(digits: number): bigint {
  return digits === UNIT_DIGITS ? UNIT : 10n ** BigInt(digits);
}

/** Small and large numbers are printed with an exponent, which an amount does not have. */
function plainText(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return Math.abs(value) < 1 ? value.toFixed(CREDIT_DIGITS).replace(/0+$/, '').replace(/\.$/, '') : text;
}

/** A number with more digits than JavaScript keeps. */
const LONG_NUMBER = /\d[\d.]{15}/;
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.]{15,}(?:[eE][-+]?\d+)?/g;

const IS_KEPT = /^"|[eE]/;

/** JSON in which numbers that would lose digits are texts. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(STRING_OR_NUMBER, (part) => (IS_KEPT.test(part) ? part : `"${part}"`)));
}
