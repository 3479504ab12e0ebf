import type { RowBlock } from '../../ports/warehouse.ts';
import { type ByteWriter, createByteWriter } from './byte-writer.ts';
import type { NativeType } from './native-types.ts';

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
