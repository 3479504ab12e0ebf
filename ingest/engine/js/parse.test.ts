import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalDecimal } from '../../../schemas/primitives/decimal.ts';
import { decimalOf, numberText } from './json-scalars.ts';
import { type Parsed, parseBatch, parseLines, parseSingle } from './parse.ts';

const digits = (maxLength: number) =>
  fc.array(fc.nat(9), { minLength: 1, maxLength }).map((list) => list.join(''));
const exponents = fc.oneof(fc.integer({ min: -20, max: 20 }), fc.constantFrom(-400, 400));
/** As many digits as a double just holds, and just does not; with and without zeros in front. */
const numbers = fc
  .record({
    sign: fc.constantFrom('', '-'),
    integer: fc.oneof(fc.constant('0'), digits(3), digits(18)).map((text) => text.replace(/^0+(?=.)/, '')),
    zeros: fc.nat(8).map((count) => '0'.repeat(count)),
    fraction: fc.option(fc.oneof(digits(4), digits(18)), { nil: undefined }),
    exponent: fc.option(exponents, { nil: undefined }),
  })
  .map(({ sign, integer, zeros, fraction, exponent }) => {
    const decimals = fraction === undefined ? '' : `.${zeros}${fraction}`;
    return `${sign}${integer}${decimals}${exponent === undefined ? '' : `e${exponent}`}`;
  });

function itemsOf(parsed: Parsed): unknown[] {
  if ('rejection' in parsed) throw new Error(parsed.rejection.message);
  return parsed.items;
}

function exactText(value: unknown): string | undefined {
  const number = numberText(value);
  return decimalOf(number ?? 'none', canonicalDecimal);
}

/** Red when the bound between numbers that a double holds and the others is off by one. */
test('a number of a body is read to its last digit, alone and with others', () => {
  fc.assert(
    fc.property(numbers, numbers, (one, two) => {
      const [item] = itemsOf(parseSingle(Buffer.from(`{ "one" : ${one} ,"two":${two}}`))) as [
        Record<string, unknown>,
      ];
      expect([exactText(item.one), exactText(item.two)]).toEqual([
        canonicalDecimal(one),
        canonicalDecimal(two),
      ]);
      const list = itemsOf(parseBatch(Buffer.from(`{"events":[${one},\n${two}]}`)));
      expect(list.map(exactText)).toEqual([canonicalDecimal(one), canonicalDecimal(two)]);
    }),
    { numRuns: 5_000, seed: 20261121 },
  );
});

test('a tree without long numbers is the one that JSON.parse gives', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ noUnicodeString: false })), (events) => {
      const text = JSON.stringify({ events });
      const items = itemsOf(parseBatch(Buffer.from(text)));
      expect(items.map(unmarked)).toEqual(JSON.parse(text).events);
    }),
    { numRuns: 2_000, seed: 20261121 },
  );
});

/** Red when a long number somewhere makes a text that looks like one a number. */
test('texts stay texts next to long numbers, whatever they look like', () => {
  const texts = fc.oneof(
    fc.string(),
    numbers,
    numbers.map((number) => `":${number},["\\`),
  );
  fc.assert(
    fc.property(fc.dictionary(texts, texts), (item) => {
      const text = `{"events":[1e3,${JSON.stringify(item)},12345678901234567890]}`;
      const [, read] = itemsOf(parseBatch(Buffer.from(text)));
      expect(read).toEqual(JSON.parse(text).events[1]);
    }),
    { numRuns: 2_000, seed: 20261121 },
  );
});

test('a client cannot write a text that is taken for a number', () => {
  const [marked] = itemsOf(parseLines(Buffer.from('1e3')));
  const guesses = ['1e3', '\u00001e3', `\u0000${'0'.repeat(32)}:1e3`, String(marked).slice(1)];
  for (const guess of guesses) expect(numberText(guess)).toBeUndefined();
});

test('lines are read one by one, and together they are a batch', () => {
  const values = fc.array(fc.jsonValue(), { maxLength: 20 });
  fc.assert(
    fc.property(values, fc.constantFrom('\n', '\r\n', '\n\n', ' \n\t'), (items, separator) => {
      const lines = items.map((item) => JSON.stringify(item));
      const batch = itemsOf(parseBatch(Buffer.from(`{"events":[${lines.join(',')}]}`)));
      expect(itemsOf(parseLines(Buffer.from(lines.join(separator)))).map(unmarked)).toEqual(
        batch.map(unmarked),
      );
    }),
    { seed: 20261121 },
  );
});

/** Red when all names are compared: sixty thousand took 200 ms, in which no other request got a response. */
test('a batch without events names what was probably meant, among the first fifty names', () => {
  const batchOf = (names: string[]) => Buffer.from(`{${names.map((name) => `"${name}":1`).join(',')}}`);
  const others = Array.from({ length: 50 }, (_, at) => `other_${at}`);
  const hint = { rejection: { message: expect.stringContaining('Did you mean `events`?') } };
  expect(parseBatch(batchOf([...others.slice(1), 'event']))).toMatchObject(hint);
  expect(parseBatch(batchOf([...others.slice(1), 'usage_events']))).toMatchObject(hint);
  expect(parseBatch(batchOf([...others, 'event']))).not.toMatchObject(hint);
});

/** Long numbers as doubles again, to compare trees. */
function unmarked(value: unknown): unknown {
  if (typeof value === 'string')
    return typeof numberText(value) === 'string' ? Number(numberText(value)) : value;
  if (Array.isArray(value)) return value.map(unmarked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, unmarked(inner)]));
}
