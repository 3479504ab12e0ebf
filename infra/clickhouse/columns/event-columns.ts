import { rowLines } from '../../../schemas/stored/row-lines.ts';
import { createMutex } from '../../platform/mutex.ts';
import type { EventLines } from '../../ports/warehouse.ts';
import type { MadeEvents } from './made-events.ts';
import { plainColumns } from './plain-columns.ts';
import { openWasmColumns, type WasmColumns } from './wasm-columns.ts';

/**
 * Makes columns of events, which must not change meanwhile. Undefined for lines that no writer reads. Blocks
 * of several partitions wait for each other: the WebAssembly has one memory.
 */
export function createEventColumns(): WasmColumns {
  const wasmColumns = openWasmColumns();
  const oneAtATime = createMutex();
  return async (lines, take, wanted) => {
    try {
      return (await oneAtATime(() => wasmColumns(lines, take, wanted))) ?? plainEvents(lines);
    } catch (error) {
      // Too little memory, or a text of megabytes: ClickHouse reads the lines.
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}

function plainEvents(lines: EventLines): MadeEvents | undefined {
  const block = plainColumns(asRows(lines));
  return block && { block };
}

export function asRows(lines: EventLines): Buffer {
  return 'frames' in lines ? Buffer.concat(lines.frames.map(rowLines)) : lines;
}
