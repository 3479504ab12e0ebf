import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RowBlock } from '../../ports/warehouse.ts';
import { HOUR_COLUMNS } from '../rollups/hour-rows.ts';
import {
  monthOf,
  PROPERTY_ROW_COLUMNS,
  type PropertyUse,
  propertyMonthText,
} from '../rollups/property-rows.ts';
import type { MadeEvents, Take, WantedRollups } from './made-events.ts';

/** Of the module of assembly/columns.ts. */
export interface RollupExports {
  withoutRollups(): void;
  /** 0 when there are too many events and properties. */
  planRollups(byProperty: boolean): number;
  beginRollups(seed: bigint, orderedSinceMs: bigint): void;
  /** 0 when some event has to be left to the plain writers. */
  endRollups(): number;
  rollupsEnd(): number;
  rollupAt(): number;
  beginHourRows(): number;
  writeHourColumn(number: number): number;
  writeUses(): number;
  closeUse(use: number): void;
  beginPropertyRows(): number;
  writePropertyColumn(number: number): number;
}

const NEVER = 2n ** 63n - 1n;
/** Of a use (assembly/rollup-blocks.ts). */
const USE_WORDS = 12;

/** Rows of the rollups: `begin` before the rows of the block are written, `end` after it. */
export interface WasmRollups {
  /** False when none are made. */
  begin(wanted: WantedRollups | undefined): boolean;
  end(wanted: WantedRollups | undefined, take: Take): Promise<Omit<MadeEvents, 'block'>>;
}

/** `memoryTo` gives the memory, which has so many bytes then. */
export function createWasmRollups(
  wasm: RollupExports,
  memoryTo: (end: number) => Buffer,
  seed: bigint,
): WasmRollups {
  /** Each column is a turn of a few milliseconds at most. */
  async function blockOf(
    { rows, columns, write }: { rows: number; columns: number; write: (column: number) => number },
    take: Take,
  ): Promise<RowBlock> {
    let bytes = 0;
    for (let column = 0; column < columns; column++) {
      await nextTurn();
      bytes = write(column);
    }
    const block = take(bytes);
    memoryTo(0).copy(block, 0, wasm.rollupAt(), wasm.rollupAt() + bytes);
    return { rows, bytes: block };
  }

  function takeUses(closed: ReadonlySet<string>): Map<string, PropertyUse> {
    const uses = new Map<string, PropertyUse>();
    const count = wasm.writeUses();
    for (const { number, use } of readUses(memoryTo(0), wasm.rollupAt(), count)) {
      const name = propertyMonthText(use);
      uses.set(name, use);
      if (closed.size === 0) continue;
      const isClosed = closed.has(name) || closed.has(propertyMonthText({ ...use, property: '' }));
      if (isClosed) wasm.closeUse(number);
    }
    return uses;
  }

  return {
    begin(wanted) {
      const end = wanted ? wasm.planRollups(wanted.closed !== undefined) : 0;
      if (end === 0) {
        wasm.withoutRollups();
        return false;
      }
      memoryTo(end);
      wasm.beginRollups(seed, wanted?.orderedSinceMs === undefined ? NEVER : BigInt(wanted.orderedSinceMs));
      return true;
    },
    async end(wanted, take) {
      // mutant: rollups-without-what-they-cannot-read
      if (wasm.endRollups() === 0) return {};
      memoryTo(wasm.rollupsEnd());
      const ofHours = { columns: HOUR_COLUMNS.length, write: wasm.writeHourColumn };
      const hours = await blockOf({ rows: wasm.beginHourRows(), ...ofHours }, take);
      if (!wanted?.closed) return { hours };
      await nextTurn();
      const uses = takeUses(wanted.closed);
      const byProperty = { columns: PROPERTY_ROW_COLUMNS.length, write: wasm.writePropertyColumn };
      const block = await blockOf({ rows: wasm.beginPropertyRows(), ...byProperty }, take);
      return { hours, byProperty: { block, uses } };
    },
  };
}

function* readUses(
  memory: Buffer,
  at: number,
  count: number,
): Iterable<{ number: number; use: PropertyUse }> {
  const words = new Uint32Array(memory.buffer, memory.byteOffset + at, count * USE_WORDS);
  const word = (place: number) => words[place] as number;
  const textAt = (place: number) => memory.toString('utf8', word(place), word(place) + word(place + 1));
  for (let first = 0; first < words.length; first += USE_WORDS) {
    const use = {
      environment: textAt(first + 2),
      meterKey: textAt(first + 4),
      property: textAt(first + 6),
      month: monthOf(word(first + 1)),
      events: word(first + 8),
      rows: word(first + 9),
      values: { size: word(first + 10) },
    };
    yield { number: word(first), use };
  }
}
