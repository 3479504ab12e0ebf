import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalDecimal, decimalUnits, roundedDecimal, unitsText, wholeDecimal } from './decimal.ts';

const UNITS_MAX = 10n ** 27n; // 15 integer and 12 fraction digits

const digits = (maxLength: number) =>
  fc.array(fc.nat(9), { minLength: 1, maxLength }).map((list) => list.join(''));
const exponents = fc.oneof(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -10_000, max: 10_000 }));

/** Every text of a JSON number: as the grammar of RFC 8259, §6. */
const numbers = fc
  .record({
    sign: fc.constantFrom('', '-'),
    integer: fc.oneof(
      fc.constant('0'),
      digits(20).map((text) => text.replace(/^0+(?=.)/, '')),
    ),
    zeros: fc.nat(20).map((count) => '0'.repeat(count)),
    fraction: fc.option(digits(20), { nil: undefined }),
    mark: fc.constantFrom('e', 'E', 'e+', 'E+', 'e-', 'E-'),
    exponent: fc.option(exponents.map(Math.abs), { nil: undefined }),
  })
  .map(({ sign, integer, zeros, fraction, mark, exponent }) => {
    const decimals = fraction === undefined ? '' : `.${zeros}${fraction}${zeros}`;
    return `${sign}${integer}${decimals}${exponent === undefined ? '' : mark + exponent}`;
  });

/** The number in units of 10^-12; undefined when it is no whole number of them. */
function unitsOf(text: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const places = 12 + Number(exponent) - fraction.length;
  const all = BigInt(integer + fraction);
  const scale = 10n ** BigInt(Math.abs(places));
  if (places < 0 && all % scale !== 0n) return undefined;
  const units = places < 0 ? all / scale : all * scale;
  return text.startsWith('-') ? -units : units;
}

/** Red when any digit is lost, an exponent is added wrongly, or a bound is off by one. */
test('a number of any spelling is the same number in one spelling, or beyond the limits', () => {
  fc.assert(
    fc.property(numbers, (text) => {
      const units = unitsOf(text);
      const fits = units !== undefined && units < UNITS_MAX && units > -UNITS_MAX;
      const canonical = canonicalDecimal(text);
      expect(canonical).toBe(fits ? unitsText(units) : undefined);
      if (canonical !== undefined) expect(canonicalDecimal(canonical)).toBe(canonical);
    }),
    { numRuns: 20_000, seed: 20261121 },
  );
});

test('the canonical text has no exponent, no needless zero and no negative zero', () => {
  fc.assert(
    fc.property(numbers, (text) => {
      const canonical = canonicalDecimal(text) ?? '1';
      expect(canonical).toMatch(/^(0|-?(0|[1-9]\d{0,14})(\.\d{0,11}[1-9])?)$/);
      expect(canonical).not.toBe('-0');
    }),
    { numRuns: 5_000, seed: 20261121 },
  );
});

const NO_NUMBERS = '|-|.|.5|5.|+1|1e|1e+|e5|1.e5|0x1|1_0| 1|1 |1,5|NaN|Infinity|١|1e1.5|--1'.split('|');

test.each(NO_NUMBERS)('"%s" is no number', (text) => {
  expect(canonicalDecimal(text)).toBeUndefined();
});

test('the limits are 15 integer and 12 fraction digits, without leading and trailing zeros', () => {
  const longest = '999999999999999.999999999999';
  expect(canonicalDecimal(longest)).toBe(longest);
  expect(canonicalDecimal(`-${longest}000`)).toBe(`-${longest}`);
  expect(canonicalDecimal(`000${longest}`)).toBe(longest);
  expect(canonicalDecimal('1000000000000000')).toBeUndefined();
  expect(canonicalDecimal('0.0000000000001')).toBeUndefined();
  expect(canonicalDecimal('1e-12')).toBe('0.000000000001');
});

/** Red with /0+$/: it looks at every zero from every zero before it, minutes for a body of 1 MiB. */
test('a megabyte of zeros inside a number costs no time', () => {
  const started = process.cpuUsage();
  const zeros = '0'.repeat(1_000_000);
  expect(canonicalDecimal(`0.1${zeros}1`)).toBeUndefined();
  expect(canonicalDecimal(`1.5${zeros}`)).toBe('1.5');
  expect(canonicalDecimal(`${zeros}1.5`)).toBe('1.5');
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
});

test('units and text turn into each other exactly', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), (units) => {
      expect(decimalUnits(unitsText(units))).toBe(units);
    }),
  );
  expect(unitsText(0n)).toBe('0');
  expect(unitsText(-1n)).toBe('-0.000000000001');
  expect(decimalUnits('-0.5')).toBe(-500_000_000_000n);
  expect(decimalUnits('7')).toBe(7_000_000_000_000n);
});

test('0.1 added ten times is 1', () => {
  const sum = Array.from({ length: 10 }, () => decimalUnits('0.1')).reduce((a, b) => a + b);
  expect(unitsText(sum)).toBe('1');
});

/** Red with any other rule for the middle, a lost carry, or a sign kept at 0. */
test('a number is rounded half-even to 12 fraction digits, by an oracle of whole numbers', () => {
  fc.assert(
    fc.property(numbers, (text) => {
      const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
      if (Math.abs(Number(exponent)) > 100) return;
      const [integer = '', fraction = ''] = mantissa.replace('-', '').split('.');
      // Units of 10^-200: nothing is lost.
      const fine = BigInt(integer + fraction) * 10n ** BigInt(200 + Number(exponent) - fraction.length);
      const scale = 10n ** 188n;
      const [floor, rest] = [fine / scale, fine % scale];
      const up = rest * 2n > scale || (rest * 2n === scale && floor % 2n === 1n);
      const units = up ? floor + 1n : floor;
      const expected = units < UNITS_MAX ? unitsText(text.startsWith('-') ? -units : units) : undefined;
      expect(roundedDecimal(text)).toBe(expected);
    }),
    { numRuns: 20_000, seed: 20261125 },
  );
});

test.each([
  [String(0.1 + 0.2), '0.3'],
  [String(1 / 3), '0.333333333333'],
  ['1e-7', '0.0000001'],
  ['1e21', undefined],
  ['1e-400', '0'],
  ['-1e-99999999999999999999', '0'],
  ['1e99999999999999999999', undefined],
  ['0.0000000000005', '0'],
  ['0.0000000000015', '0.000000000002'],
  ['0.00000000000050000001', '0.000000000001'],
  ['-0.0000000000015', '-0.000000000002'],
  ['0.9999999999999999', '1'],
  ['999999999999999.9999999999996', undefined],
  ['999999999999999.9999999999994', '999999999999999.999999999999'],
])('%s is rounded to %s', (text, rounded) => {
  expect(roundedDecimal(text)).toBe(rounded);
});

test('a number keeps every digit that was sent, in one spelling, as long as that is short enough', () => {
  expect(wholeDecimal('0.30000000000000004', 256)).toBe('0.30000000000000004');
  expect(wholeDecimal('-1.50e3', 256)).toBe('-1500');
  expect(wholeDecimal('-0e5', 256)).toBe('0');
  expect(wholeDecimal('1e21', 256)).toBe(`1${'0'.repeat(21)}`);
  expect(wholeDecimal('1e255', 256)).toHaveLength(256);
  for (const text of ['1e256', '-1e255', '1e-255', '1e999999999', '1e-999999999']) {
    expect(wholeDecimal(text, 256)).toBeUndefined();
  }
});
