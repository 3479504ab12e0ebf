import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalDecimal, decimalUnits, unitsText } from './decimal.ts';

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

test('the limits are 15 integer and 12 fraction digits, whatever zeros stand around them', () => {
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
