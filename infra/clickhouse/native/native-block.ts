import type { RowBlock } from '../../ports/warehouse.ts';
import { type ByteWriter, createByteWriter } from './byte-writer.ts';
import { type NativeType, UINT64 } from './native-types.ts';

/** A column of a block, with a value for each of its rows. */
export interface NativeColumn {
  rows: number;
  write(out: ByteWriter): void;
}

/** ClickHouse finds the table's column by the name, and fills one that no block names with its default. */
export function nativeColumn<T>(name: string, type: NativeType<T>, values: readonly T[]): NativeColumn {
  return {
    rows: values.length,
    write(out) {
      out.text(name);
      out.text(type.name);
      if (values.length === 0) return;
      type.writePrefix?.(out);
      type.write(out, values);
    },
  };
}

/** The block with further columns of UInt64, by name, each with one number for all rows. */
export function withNumbers({ rows, bytes }: RowBlock, numbers: Record<string, number>): RowBlock {
  const more = Object.entries(numbers).map(([name, number]) =>
    nativeColumn(name, UINT64, new Array<bigint>(rows).fill(BigInt(number))),
  );
  const columns = bytes[0] as number;
  if (columns + more.length > ONE_BYTE_MAX) throw new RangeError('more columns than one byte counts');
  const out = createByteWriter();
  for (const column of more) column.write(out);
  return { rows, bytes: Buffer.concat([Buffer.of(columns + more.length), bytes.subarray(1), out.end()]) };
}

/** Of a count in seven bits a byte. */
const ONE_BYTE_MAX = 127;

/** One block in ClickHouse's format Native. Throws RangeError when its columns differ in length. */
export function nativeBlock(columns: readonly NativeColumn[]): RowBlock {
  const rows = columns[0]?.rows ?? 0;
  if (columns.some((column) => column.rows !== rows)) throw new RangeError('columns of different lengths');
  const out = createByteWriter();
  out.varUint(columns.length);
  out.varUint(rows);
  for (const column of columns) column.write(out);
  return { rows, bytes: out.end() };
}
