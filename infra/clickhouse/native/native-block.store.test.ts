import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'chdb';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { unitsText } from '../../../schemas/primitives/decimal.ts';
import { CODE_POINT } from '../../../tests/support/code-point.ts';
import { folderOfThisFile } from '../../../tests/support/test-folder.ts';
import { nativeBlock, nativeColumn } from './native-block.ts';
import {
  arrayOf,
  DATE_TIME,
  DATE_TIME_MS,
  DECIMAL,
  fixedString,
  LOW_CARDINALITY_STRING,
  mapOf,
  type NativeType,
  STRING,
  tupleOf,
  UINT64,
} from './native-types.ts';

const folder = folderOfThisFile();
const engine = new Session(join(folder, 'engine'));
afterAll(() => engine.close());

/** What ClickHouse reads in a column, as it prints it in JSON. */
function readBack<T>(type: NativeType<T>, values: readonly T[], what = 'x'): unknown[] {
  const file = join(folder, 'block.native');
  writeFileSync(file, nativeBlock([nativeColumn('x', type, values)]).bytes);
  const sql = `SELECT ${what} AS x FROM file('${file}', 'Native')
    SETTINGS output_format_json_quote_64bit_integers = 1, output_format_json_quote_decimals = 1`;
  const text = engine.query(sql, 'JSONCompactEachRow');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line)[0]);
}

/** Of a type: its values, and what ClickHouse prints of one. */
interface Kind<T> {
  type: NativeType<T>;
  values: fc.Arbitrary<T>;
  printed(value: T): unknown;
  /** The expression that is printed in place of the column. */
  what?: string;
}

function kind<T>(given: Kind<T>) {
  const columns = fc.array(given.values, { minLength: 1, maxLength: 300, size: 'max' });
  const check = () =>
    fc.assert(
      fc.property(columns, (column) => {
        expect(readBack(given.type, column, given.what)).toEqual(column.map(given.printed));
      }),
      { numRuns: 20 },
    );
  return { name: given.type.name, check };
}

const same = <T>(value: T) => value;
const text = fc.string({ unit: CODE_POINT, maxLength: 300 });
const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const few = fc.constantFrom('', 'a', 'calls', 'ü');
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const units = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const timeMs = fc.integer({ min: Date.UTC(1901, 0), max: Date.UTC(2298, 0) });

it.each([
  kind<string>({ type: STRING, values: text, printed: same }),
  kind({
    type: fixedString(16),
    values: bytes,
    what: 'lower(hex(x))',
    printed: (value) => Buffer.from(value).toString('hex'),
  }),
  kind({ type: UINT64, values: uint64, printed: String }),
  kind({ type: DECIMAL, values: units, printed: unitsText }),
  kind({ type: DATE_TIME, values: fc.nat(2 ** 32 - 1), what: 'toUnixTimestamp(x)', printed: same }),
  kind({ type: DATE_TIME_MS, values: timeMs, what: 'toUnixTimestamp64Milli(x)', printed: String }),
  kind({ type: LOW_CARDINALITY_STRING, values: fc.oneof(few, text), printed: same }),
  kind<readonly string[]>({ type: arrayOf(STRING), values: fc.array(text, { maxLength: 5 }), printed: same }),
  kind({
    type: arrayOf(LOW_CARDINALITY_STRING),
    values: fc.array(few, { maxLength: 5 }),
    printed: same,
  }),
  kind({
    type: tupleOf<readonly [string, bigint, string]>(LOW_CARDINALITY_STRING, UINT64, STRING),
    values: fc.tuple(few, uint64, text),
    what: 'tuple(x.1, x.2, x.3)',
    printed: ([one, two, three]) => [one, String(two), three],
  }),
  kind<ReadonlyArray<readonly [string, string]>>({
    type: mapOf(STRING, STRING),
    values: fc.dictionary(few, text).map(Object.entries),
    printed: Object.fromEntries,
  }),
])('ClickHouse reads what is written as $name', ({ check }) => check());

// Red when all indexes have one width: of one byte there are only 256.
it.each([1, 256, 257, 65_536, 65_537])('ClickHouse reads %i different texts that repeat', (different) => {
  const texts = Array.from({ length: different + 3 }, (_, at) => `text ${at % different}`);
  expect(readBack(LOW_CARDINALITY_STRING, texts)).toEqual(texts);
});

it('ClickHouse reads a block of no rows, and arrays without elements', () => {
  expect(readBack(LOW_CARDINALITY_STRING, [])).toEqual([]);
  expect(readBack(arrayOf(LOW_CARDINALITY_STRING), [[], []])).toEqual([[], []]);
});

it('ClickHouse reads several columns', () => {
  const numbers = Array.from({ length: 70_000 }, (_, at) => BigInt(at));
  const columns = [nativeColumn('a', UINT64, numbers), nativeColumn('b', STRING, numbers.map(String))];
  const { rows, bytes } = nativeBlock(columns);
  expect(rows).toBe(70_000);
  const file = join(folder, 'two.native');
  writeFileSync(file, bytes);
  const sql = `SELECT count(), countIf(toString(a) = b) FROM file('${file}', 'Native')`;
  expect(engine.query(sql, 'CSV')).toBe('70000,70000\n');
});

it('columns of different lengths, and bytes of another length than the type has, are a mistake', () => {
  const [one, two] = [nativeColumn('a', UINT64, [1n]), nativeColumn('b', UINT64, [])];
  expect(() => nativeBlock([one, two])).toThrow(RangeError);
  expect(() => nativeBlock([nativeColumn('a', fixedString(2), [Buffer.alloc(3)])])).toThrow(RangeError);
});
