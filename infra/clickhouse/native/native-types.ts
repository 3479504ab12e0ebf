import { FRACTION_DIGITS_MAX } from '../../../schemas/primitives/decimal.ts';
import type { ByteWriter } from './byte-writer.ts';

/** A type of ClickHouse, and how its columns are written in the format Native. */
export interface NativeType<T> {
  /** As ClickHouse spells it. */
  name: string;
  /** What stands once in front of all values, also of those that are in another type. */
  writePrefix?(out: ByteWriter): void;
  write(out: ByteWriter, values: readonly T[]): void;
}

/** UTF-8: of a text, or as it is. */
export const STRING: NativeType<string | Uint8Array> = {
  name: 'String',
  write(out, values) {
    for (const value of values) out.text(value);
  },
};

/** Of exactly so many bytes each; throws RangeError for others. */
export function fixedString(bytes: number): NativeType<Uint8Array> {
  return {
    name: `FixedString(${bytes})`,
    write: (out, values) =>
      fill(out, values, bytes, (view, at, value) => {
        if (value.length !== bytes) throw new RangeError(`${value.length} bytes in a FixedString(${bytes})`);
        view.set(value, at);
      }),
  };
}

export const UINT8: NativeType<number> = {
  name: 'UInt8',
  write: (out, values) => fill(out, values, 1, (view, at, value) => view.writeUInt8(value, at)),
};

export const UINT64: NativeType<bigint> = {
  name: 'UInt64',
  write: (out, values) => fill(out, values, 8, (view, at, value) => view.writeBigUInt64LE(value, at)),
};

/** Decimals as units of 10^-12 (`decimalUnits`): an Int128. */
export const DECIMAL: NativeType<bigint> = {
  name: `Decimal(38, ${FRACTION_DIGITS_MAX})`,
  write: (out, values) =>
    fill(out, values, 16, (view, at, value) => {
      view.writeBigUInt64LE(BigInt.asUintN(64, value), at);
      view.writeBigInt64LE(BigInt.asIntN(64, value >> 64n), at + 8);
    }),
};

/** Whole seconds since 1970, up to the year 2106. */
export const DATE_TIME: NativeType<number> = {
  name: "DateTime('UTC')",
  write: (out, values) => fill(out, values, 4, (view, at, value) => view.writeUInt32LE(value, at)),
};

/** Whole milliseconds since 1970. */
export const DATE_TIME_MS: NativeType<number> = {
  name: "DateTime64(3, 'UTC')",
  write: (out, values) => fill(out, values, 8, (view, at, value) => view.writeBigInt64LE(BigInt(value), at)),
};

const DICTIONARY_VERSION = 1n;
/** The values that the indexes count in follow, and there is no other dictionary. */
const OWN_DICTIONARY = 0x600n;
/** By the bytes of an index; ClickHouse numbers the widths so. */
const INDEX_WIDTHS = [
  { valuesMax: 2 ** 8, bytes: 1, width: 0n },
  { valuesMax: 2 ** 16, bytes: 2, width: 1n },
  { valuesMax: 2 ** 32, bytes: 4, width: 2n },
] as const;

/** Texts that repeat: each is written once, in the order in which they come first. */
export const LOW_CARDINALITY_STRING: NativeType<string> = {
  name: 'LowCardinality(String)',
  writePrefix: (out) => writeCount(out, DICTIONARY_VERSION),
  write(out, values) {
    if (values.length === 0) return;
    const places = new Map<string, number>();
    for (const value of values) if (!places.has(value)) places.set(value, places.size);
    const { bytes, width } = indexWidth(places.size);
    writeCount(out, OWN_DICTIONARY | width);
    writeCount(out, places.size);
    for (const value of places.keys()) out.text(value);
    writeCount(out, values.length);
    fill(out, values, bytes, (view, at, value) => view.writeUIntLE(places.get(value) ?? 0, at, bytes));
  },
};

function indexWidth(values: number) {
  return INDEX_WIDTHS.find(({ valuesMax }) => values <= valuesMax) ?? INDEX_WIDTHS[2];
}

export function arrayOf<T>(element: NativeType<T>): NativeType<readonly T[]> {
  return {
    name: `Array(${element.name})`,
    writePrefix: (out) => element.writePrefix?.(out),
    write(out, values) {
      let end = 0;
      fill(out, values, 8, (view, at, value) => {
        end += value.length;
        view.writeBigUInt64LE(BigInt(end), at);
      });
      element.write(out, values.flat() as T[]);
    },
  };
}

/** Its parts are columns one behind the other. */
export function tupleOf<Parts extends readonly unknown[]>(
  ...parts: { [At in keyof Parts]: NativeType<Parts[At]> }
): NativeType<Parts> {
  return {
    name: `Tuple(${parts.map(({ name }) => name).join(', ')})`,
    writePrefix(out) {
      for (const part of parts) part.writePrefix?.(out);
    },
    write(out, values) {
      parts.forEach((part, at) => {
        part.write(
          out,
          values.map((value) => value[at]),
        );
      });
    },
  };
}

/** ClickHouse keeps a map as an array of its pairs, in their order. */
export function mapOf<Key, Value>(
  key: NativeType<Key>,
  value: NativeType<Value>,
): NativeType<ReadonlyArray<readonly [Key, Value]>> {
  const entries = arrayOf(tupleOf<readonly [Key, Value]>(key, value));
  return { ...entries, name: `Map(${key.name}, ${value.name})` };
}

function writeCount(out: ByteWriter, count: number | bigint): void {
  const { view, at } = out.take(8);
  view.writeBigUInt64LE(BigInt(count), at);
}

/** Values of one size. */
function fill<T>(
  out: ByteWriter,
  values: readonly T[],
  bytes: number,
  put: (view: Buffer, at: number, value: T) => void,
): void {
  const { view, at } = out.take(values.length * bytes);
  values.forEach((value, number) => {
    put(view, at + number * bytes, value);
  });
}
