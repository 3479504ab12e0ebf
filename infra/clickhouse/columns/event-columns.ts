import { createMutex } from '../../platform/mutex.ts';
import type { RowBlock } from '../../ports/warehouse.ts';
import { plainColumns } from './plain-columns.ts';
import { openWasmColumns, type Take } from './wasm-columns.ts';

/** Makes columns of lines, which must not change meanwhile. Undefined for lines that neither writer reads. */
export type EventColumns = (lines: Buffer, take: Take) => Promise<RowBlock | undefined>;

/** Blocks of several partitions wait for each other: the WebAssembly has one memory. */
export function createEventColumns(): EventColumns {
  const wasmColumns = openWasmColumns();
  const oneAtATime = createMutex();
  return async (lines, take) => {
    try {
      return (await oneAtATime(() => wasmColumns(lines, take))) ?? plainColumns(lines);
    } catch (error) {
      // Too little memory, or a text of megabytes: ClickHouse reads the lines.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}
