import fc from 'fast-check';
import { expect } from 'vitest';
import { plainColumns } from './plain-columns.ts';
import { damagedLines, randomLines } from './random-lines-under-test.ts';
import { openWasmColumns } from './wasm-columns.ts';

/** How many blocks the WebAssembly has read, and not left to the plain writer. */
export async function compareWriters(kind: 'sound' | 'damaged', numRuns: number): Promise<number> {
  const wasm = openWasmColumns();
  let read = 0;
  await fc.assert(
    fc.asyncProperty(kind === 'sound' ? randomLines : damagedLines, async (lines) => {
      const fast = await wasm(lines, (bytes) => Buffer.alloc(bytes));
      if (!fast) return;
      read += 1;
      const plain = plainColumns(lines);
      expect(fast.rows).toBe(plain?.rows);
      expect(fast.bytes.equals(plain?.bytes ?? Buffer.alloc(0))).toBe(true);
    }),
    { numRuns },
  );
  return read;
}
