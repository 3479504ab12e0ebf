import { rowLines } from '../../../schemas/stored/row-lines.ts';
import { createMutex } from '../../platform/mutex.ts';
import type { EventLines, RowBlock } from '../../ports/warehouse.ts';
import { plainColumns } from './plain-columns.ts';
import { openWasmColumns, type Take } from './wasm-columns.ts';

/** Makes columns of events, which must not change meanwhile. Undefined for lines that no writer reads. */
export type EventColumns = (lines: EventLines, take: Take) => Promise<RowBlock | undefined>;

/** Blocks of several partitions wait for each other: the WebAssembly has one memory. */
export function createEventColumns(): EventColumns {
  const wasmColumns = openWasmColumns();
  const oneAtATime = createMutex();
  return async (lines, take) => {
    try {
      return (await oneAtATime(() => wasmColumns(lines, take))) ?? plainColumns(asRows(lines));
    } catch (error) {
      // Too little memory, or a text of megabytes: ClickHouse reads the lines.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}

export function asRows(lines: EventLines): Buffer {
  return 'frames' in lines ? Buffer.concat(lines.frames.map(rowLines)) : lines;
}
