import fc from 'fast-check';
import { expect } from 'vitest';
import { TEST_NOW_MS } from '../../../tests/support/event-line.ts';
import type { RowBlock } from '../../ports/warehouse.ts';
import { readEventRows } from '../rollups/event-rows.ts';
import { hourRows } from '../rollups/hour-rows.ts';
import { inTurns } from '../rollups/in-turns.ts';
import { type PropertyRows, type PropertyUse, propertyRows } from '../rollups/property-rows.ts';
import { randomLines, similarLines } from './random-lines-under-test.ts';
import { openWasmColumns, type WasmColumns } from './wasm-columns.ts';

const BLOCKS = fc.record({
  lines: fc.oneof(randomLines, { weight: 2, arbitrary: similarLines }),
  /** Which of its uses are closed. */
  closed: fc.array(fc.nat(), { maxLength: 6 }),
  orderedSinceMs: fc.constantFrom(undefined, 0, TEST_NOW_MS),
});

/** How many blocks the WebAssembly has made rollups of: the same as the plain writers make. */
export async function compareRollups(numRuns: number): Promise<number> {
  const wasm = openWasmColumns();
  let made = 0;
  await fc.assert(
    fc.asyncProperty(BLOCKS, async ({ lines, closed, orderedSinceMs }) => {
      if (await expectSameRollups(wasm, lines, { closed, orderedSinceMs })) made += 1;
    }),
    { numRuns },
  );
  return made;
}

/** `closed`: numbers of uses, modulo how many there are. False for lines that are not read. */
export async function expectSameRollups(
  wasm: WasmColumns,
  lines: Buffer,
  { closed, orderedSinceMs }: { closed: readonly number[]; orderedSinceMs?: number | undefined },
): Promise<boolean> {
  const withHours = await wasm(lines, take, { orderedSinceMs });
  if (!withHours?.hours) return false;
  const events = readEventRows(withHours.block);
  const hours = await inTurns(hourRows(events, orderedSinceMs));
  expectBlock(withHours.hours, hours);
  const all = await inTurns(propertyRows(events, new Set()));
  const uses = [...all.uses.keys()];
  const names = new Set(closed.map((number) => uses[number % uses.length] ?? ''));
  const made = await wasm(lines, take, { closed: names, orderedSinceMs });
  expectBlock(made?.hours, hours);
  expectRows(made?.byProperty, await inTurns(propertyRows(events, names)));
  return true;
}

const take = (bytes: number) => Buffer.alloc(bytes);

/** Uses come in the same order too: the guard looks at the first ones. */
function expectRows(made: PropertyRows | undefined, plain: PropertyRows): void {
  expect([...(made?.uses ?? [])].map(countsOf)).toEqual([...plain.uses].map(countsOf));
  expectBlock(made?.block, plain.block);
}

function countsOf([name, { values, ...use }]: [string, PropertyUse]) {
  return { name, ...use, values: values.size };
}

function expectBlock(made: RowBlock | undefined, plain: RowBlock): void {
  expect(made?.rows).toBe(plain.rows);
  expect(made?.bytes.equals(plain.bytes)).toBe(true);
}
