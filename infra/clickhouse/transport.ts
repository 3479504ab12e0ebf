import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import type { RowBlock, Statement } from '../ports/warehouse.ts';

/**
 * How statements reach ClickHouse. Throws what its driver throws, and Transient when a time limit ends.
 * `Lines` is what it takes of events (with-columns.ts takes frames as well).
 */
export interface Transport<Lines = Buffer> {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** A statement without rows, on the load connection. Without a limit of its own it has a minute. */
  command(sql: string, timeoutMs?: number): Promise<void>;
  /** Events as one block. With a token they are taken once. */
  insert(lines: LineBlock<Lines>): Promise<void>;
  /** Rows of several tables, in order, each once per token and table. Returns after all are on disk. */
  insertRows(inserts: RowInserts): Promise<void>;
  close(): Promise<void>;
}

export interface LineBlock<Lines = Buffer> {
  table: string;
  /** JSONCompactEachRow. */
  lines: Lines;
  token?: string;
  timeoutMs: number;
}

export interface RowInserts {
  tables: ReadonlyArray<{ table: string; block: RowBlock }>;
  token?: string;
  timeoutMs: number;
}

/** One statement: a block, and where it goes. */
export interface BlockInsert {
  /** `table (columns)`; of a block in the format Native all columns that it names. */
  into: string;
  format: 'Native' | 'JSONCompactEachRow';
  block: RowBlock;
}

export function lineInsert({ table, lines }: LineBlock): BlockInsert {
  const into = `${table} (${EVENT_COLUMNS.join(', ')})`;
  return { into, format: 'JSONCompactEachRow', block: { rows: countLines(lines), bytes: lines } };
}

export function rowInserts({ tables }: RowInserts): BlockInsert[] {
  return tables.map(({ table, block }) => ({ into: table, format: 'Native', block }));
}

const LINE_FEED = 10;

/** The last one may have no line feed. */
function countLines(lines: Buffer): number {
  let count = 0;
  for (let from = 0; from < lines.length; count++) {
    const end = lines.indexOf(LINE_FEED, from);
    from = end < 0 ? lines.length : end + 1;
  }
  return count;
}
