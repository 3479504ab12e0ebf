import { createMemoryPool } from '../../platform/memory-pool.ts';
import type { EventLines, RowBlock } from '../../ports/warehouse.ts';
import { unavailable } from '../driver-errors.ts';
import { type EventRows, readEventRows } from '../rollups/event-rows.ts';
import type { LineBlock, RowInserts, Transport } from '../transport.ts';
import { asRows, createEventColumns } from './event-columns.ts';
import type { MadeEvents, WantedRollups } from './made-events.ts';

const MEBIBYTE = 1024 * 1024;
/** A full block of the load has some 12 MB in columns; the blocks of several partitions may be under way. */
const BLOCK_MEMORY = { pieceBytes: MEBIBYTE, keptBytesMax: 32 * MEBIBYTE };

/** A transport that also inserts into several tables what it makes of one block of lines. */
export interface LineTransport extends Transport<EventLines> {
  /**
   * Inserts the lines as rows of `events`, then what `rollups` makes of these rows, each once per token and
   * table. False when only ClickHouse can read a line: then nothing was sent.
   */
  insertEvents(lines: EventsToInsert, rollups: readonly Rollup[]): Promise<boolean>;
  /** The same, but into what `tablesOf` makes of the columns, in its order. */
  insertMade(lines: EventsToInsert, tablesOf: TablesOf): Promise<boolean>;
}

export type EventsToInsert = Omit<LineBlock<EventLines>, 'table'>;
export type TablesOf = (made: MadeEvents, events: () => EventRows) => Promise<RowInserts['tables']>;

/** A table that the load fills with the events. */
export interface Rollup {
  /** `table (columns)`. */
  into: string;
  /** Of the rollup by property: what it leaves out, names of `propertyMonthText`. */
  closed?(): Promise<ReadonlySet<string>>;
  /** Of the hours: {@link WantedRollups}. */
  orderedSinceMs?(): number | undefined;
  /** As they were made with the block, or of its events. */
  rowsOf(made: MadeEvents, events: () => EventRows): Promise<RowBlock>;
}

/**
 * The same transport, but events go as columns, which ClickHouse reads for a tenth of the CPU. A block with a
 * line that cannot be read as columns goes as lines: what is rejected ClickHouse decides.
 */
export function withColumns(transport: Transport): LineTransport {
  const columns = createEventColumns();
  const memory = createMemoryPool(BLOCK_MEMORY);

  /** False for lines that cannot be read as columns. */
  async function insertMade(
    { lines, timeoutMs, ...others }: EventsToInsert,
    tablesOf: TablesOf,
    wanted?: WantedRollups,
  ): Promise<boolean> {
    const leftMs = timeLeft(timeoutMs);
    const loan = memory.lend();
    const made = await columns(lines, loan.take, wanted);
    if (!made) return false;
    let read: EventRows | undefined;
    const events = () => {
      read ??= readEventRows(made.block);
      return read;
    };
    const tables = await tablesOf(made, events);
    await transport.insertRows({ ...others, timeoutMs: leftMs(), tables });
    // Not after a failure: what was given up may still be on its way.
    loan.giveBack();
    return true;
  }

  async function insertColumns(
    { table, ...block }: LineBlock<EventLines>,
    rollups: readonly Rollup[],
  ): Promise<boolean> {
    const tablesOf: TablesOf = async (made, events) => {
      // mutant: hours-before-their-events
      const tables = [{ table, block: made.block }, ...(await rollupsOf(made, rollups, events))];
      return tables;
    };
    return insertMade(block, tablesOf, await wantedOf(rollups));
  }

  return {
    ...transport,
    async insert(block) {
      const leftMs = timeLeft(block.timeoutMs);
      if (await insertColumns(block, [])) return;
      await transport.insert({ ...block, lines: asRows(block.lines), timeoutMs: leftMs() });
    },
    insertMade: (lines, tablesOf) => insertMade(lines, tablesOf),
    insertEvents: (lines, rollups) => insertColumns({ table: 'metergate.events', ...lines }, rollups),
  };
}

async function wantedOf(rollups: readonly Rollup[]): Promise<WantedRollups | undefined> {
  if (rollups.length === 0) return undefined;
  const orderedSinceMs = rollups.find((one) => one.orderedSinceMs)?.orderedSinceMs?.();
  return { closed: await rollups.find(({ closed }) => closed)?.closed?.(), orderedSinceMs };
}

async function rollupsOf(
  made: MadeEvents,
  rollups: readonly Rollup[],
  events: () => EventRows,
): Promise<RowInserts['tables']> {
  const tables: Array<RowInserts['tables'][number]> = [];
  for (const { into, rowsOf } of rollups) tables.push({ table: into, block: await rowsOf(made, events) });
  return tables;
}

/** A lease may end with the time limit: nothing is begun behind it. Throws Transient then. */
function timeLeft(timeoutMs: number): () => number {
  const startedAtMs = performance.now();
  return () => {
    const leftMs = timeoutMs - (performance.now() - startedAtMs);
    if (leftMs <= 0) throw unavailable();
    return leftMs;
  };
}
