import fc from 'fast-check';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { arrivalText, BOOLEAN_TAG, NUMBER_TAG } from '../../../schemas/stored/event-row.ts';
import { CODE_POINT } from '../../../tests/support/code-point.ts';

/** What random lines are made of. */
interface Parts {
  environment: fc.Arbitrary<string>;
  customerNumber: fc.Arbitrary<number>;
  meterKey: fc.Arbitrary<string>;
  /** Of properties and of what is counted. */
  text: fc.Arbitrary<string>;
  timeMs: fc.Arbitrary<number>;
}

function plainTexts(): Parts {
  const text = fc.string({ unit: 'grapheme-ascii', maxLength: 20 }).map((one) => one.replace(/["\\]/g, ','));
  return { ...FEW_NAMES, meterKey: fc.constantFrom('calls', 'tokens', 'a', 'meter with, comma'), text };
}

function anyTexts(): Parts {
  const text = fc.oneof(
    fc.string({ unit: CODE_POINT, maxLength: 30 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
    fc.constantFrom(
      '"',
      '\\',
      '\n\t\r\b\f',
      '\u0001',
      '\u007f',
      'ü',
      '☃😀',
      '/',
      'x'.repeat(127),
      'x'.repeat(128),
      'y'.repeat(16_384),
    ),
  );
  const meterKey = fc.oneof(fc.constantFrom('calls', 'a"b', 'ü', ''), fc.string({ maxLength: 3 }));
  return { ...FEW_NAMES, meterKey, text };
}

/** So that many events have an hour, a property and a value in common, and some a time. */
function fewTexts(): Parts {
  return {
    environment: fc.constantFrom('ws_a:live', 'ws_b:live'),
    customerNumber: fc.constantFrom(0, 1),
    meterKey: fc.constantFrom('calls', 'b'),
    text: fc.constantFrom('a', 'b', 'ü', '', 'x'.repeat(130), 'a'.repeat(8), 'a'.repeat(9), NUMBER_TAG + 1),
    timeMs: fc.oneof(
      fc.integer({ min: NOON, max: NOON + 3 }),
      fc.constantFrom(NOON - 1, MONTH_END, MONTH_END - 1),
    ),
  };
}

function lineOf({
  environment: environments,
  customerNumber,
  meterKey,
  text,
  timeMs,
}: Parts): fc.Arbitrary<string> {
  const value = fc.oneof(
    text,
    fc.integer().map((number) => NUMBER_TAG + number),
    fc.boolean().map((one) => BOOLEAN_TAG + one),
  );
  return fc
    .tuple(
      environments,
      customerNumber.map((number) => `cus_${base32(Buffer.alloc(16, number * 50))}`),
      meterKey,
      ids,
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
      values,
      fc.oneof(
        fc.constant(''),
        text.map((one) => `=${one}`),
        fc.nat(1_000_000).map(arrivalText),
      ),
      fc.array(fc.tuple(text, value), { maxLength: 5 }),
      timeMs,
      timeMs,
    )
    .map(([environment, customer, meter, id, fingerprint, units, unique, properties, occurred, created]) => {
      const texts = [environment, customer, meter, id, String(fingerprint)].map((one) => JSON.stringify(one));
      const members = properties.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`);
      const rest = [units, JSON.stringify(unique), `{${members.join(',')}}`, occurred, created];
      return `[${[...texts, ...rest].join(',')}]\n`;
    });
}

const ids = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((number) => crowded(number)),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => `use_${base32(bytes)}`),
);

/** The same in front, so that their order is decided late. */
function crowded(number: number): string {
  const bytes = Buffer.alloc(16, 7);
  bytes.writeUInt32BE((number * 0x9e3779b1) % 2 ** 32, 12);
  return `use_${base32(bytes)}`;
}

const digits = (maxLength: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength }).map((all) => all.join(''));

const values = fc.oneof(
  fc.integer({ min: -1_000, max: 1_000 }).map(String),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      digits(26),
      fc.oneof(
        fc.constant(''),
        digits(12).map((all) => `.${all}`),
      ),
    )
    .map(([sign, whole, fraction]) => sign + whole.replace(/^0+(?=\d)/, '') + fraction),
);

const NOON = Date.UTC(2026, 10, 21, 12);
const MONTH_END = Date.UTC(2026, 11);
const timesMs = fc.oneof(
  fc.integer({ min: NOON, max: NOON + 3 * 3_600_000 }),
  fc.integer({ min: NOON - 500 * 86_400_000, max: NOON }),
  fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2105, 0) }),
  fc.constantFrom(NOON, NOON - 1, NOON + 3_600_000),
);

const FEW_NAMES = {
  environment: fc.constantFrom('ws_a:live', 'ws_a:test', 'ws_b:live', 'ws_aa:live'),
  customerNumber: fc.integer({ min: 0, max: 5 }),
  timeMs: timesMs,
};

/** Lines as the ingest tier writes them, of few customers, meters, hours and ids, so that rows meet. */
export const randomLines: fc.Arbitrary<Buffer> = fc
  .oneof(
    { weight: 6, arbitrary: fc.array(lineOf(plainTexts()), { minLength: 1, maxLength: 40 }) },
    { weight: 4, arbitrary: fc.array(lineOf(anyTexts()), { minLength: 1, maxLength: 40 }) },
    { weight: 1, arbitrary: fc.array(lineOf(anyTexts()), { minLength: 100, maxLength: 300, size: 'max' }) },
  )
  .map((lines) => Buffer.from(lines.join('')));

/** Those that can be stored: ingest rejects U+0000 in texts, so it is nothing but the first of a tag. */
export const storableLines: fc.Arbitrary<Buffer> = randomLines.filter(
  (lines) => !/\\u0000(?![nb])/.test(lines.toString()),
);

/** Lines of which many have an hour, a property and a value in common. */
export const similarLines: fc.Arbitrary<Buffer> = fc
  .array(lineOf(fewTexts()), { minLength: 2, maxLength: 60, size: 'max' })
  .map((lines) => Buffer.from(lines.join('')));

/** A few lines, of any texts. */
export const fewLines: fc.Arbitrary<Buffer> = fc
  .array(lineOf(anyTexts()), { minLength: 1, maxLength: 4 })
  .map((lines) => Buffer.from(lines.join('')));

/** The same with a byte or a stretch changed, left out or doubled: most of them are no lines of ours. */
export function damaged(sound: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc
    .tuple(
      sound,
      fc.array(fc.tuple(fc.nat(), fc.nat(6), fc.uint8Array({ maxLength: 4 })), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.array(fc.constantFrom('\\', '"', '\\u00', ',', '0', '{', '}', '\n', '-', '.', '\0', '/'), {
        maxLength: 2,
      }),
    )
    .map(([lines, changes, inserted]) =>
      changes.reduce((bytes, [place, left, random]) => {
        const at = place % (bytes.length + 1);
        const more = inserted.length > 0 ? Buffer.from(inserted.join('')) : random;
        return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at + left)]);
      }, lines),
    );
}
