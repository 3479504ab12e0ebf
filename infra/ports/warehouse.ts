import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import type { Frame } from '../../schemas/stored/frame.ts';

/**
 * ClickHouse, in process or as a server. One SQL dialect; the statements are in the modules that use them.
 */
export interface Warehouse {
  /**
   * Brings it up to this release, in order. Any number of processes may do it at once, and again after a
   * crash at any step. Throws Fatal `warehouse_newer` when a later release was here, and what
   * `atPause` throws.
   */
  migrate(options?: MigrateOptions): Promise<void>;

  /**
   * Loads one block of events into `events` and every view behind it, once per token: the same events under
   * the same token may be sent any number of times, as frames or as lines. Returns after the rows are on
   * disk. A block that `wasSent` is repaired: the warehouse finds and inserts what a crash left out.
   *
   * Throws Poison `block_refused` when a line cannot be read: nothing of the block was stored. Throws
   * Transient `warehouse_unavailable` when the outcome is unknown: send the same events again. Throws Fatal
   * `line_unreadable` for frames that the ingest tier does not write.
   */
  insertEvents(block: EventBlock): Promise<void>;

  /** Reads the lines as an insert would, storing nothing. False when any line would be rejected. */
  accepts(lines: Buffer): Promise<boolean>;

  /**
   * Rows of a statement with `{name:Type}` parameters. Each kind of statement has a connection of its own, so
   * a `long` read delays neither the load nor a counter. Throws Transient `warehouse_unavailable`, also when
   * `timeoutMs` ends.
   */
  query<Row>(statement: Statement): Promise<Row[]>;

  close(): Promise<void>;
}

export interface MigrateOptions {
  /** For migrations that change a view. Without it they run at once: this warehouse has no load yet. */
  atPause?: Pause;
  /** Of the numbered files; those of this release when left out. */
  directory?: URL;
}

/**
 * Does the work while the load is paused: no range is pending, so no block will be sent again, and no process
 * can begin a range before the work is done. Work that takes minutes calls `mayWrite` before each write: it
 * throws Transient when the pause may have ended.
 */
export type Pause = (work: (mayWrite: () => Promise<void>) => Promise<void>) => Promise<void>;

/** Rows of one table, as one block in ClickHouse's format Native (infra/clickhouse/native). */
export interface RowBlock {
  rows: number;
  bytes: Buffer;
}

/**
 * Lines of rows (schemas/stored/event-row.ts); or whole frames with short lines, with all their events, which
 * stand for the same rows.
 */
export type EventLines = Buffer | { frames: readonly Frame[] };

export interface EventBlock {
  token: string;
  lines: EventLines;
  timeoutMs: number;
  /** An earlier sending may have been cut off in the middle. */
  wasSent?: boolean;
  /**
   * They are rows of one change of usage: they go to its own tables, and nothing that reads ordinary usage
   * sees them. Ordinary usage when left out.
   */
  change?: ChangeRows;
  /**
   * Called before each statement of a repair: no other process may write in that time, and an error from this
   * function ends the repair. It starts again when the block is sent again.
   */
  mayWrite?: () => Promise<void>;
}

export interface Statement {
  sql: string;
  params?: Record<string, string | number | string[]>;
  connection: 'load' | 'counters' | 'settlement' | 'long';
  timeoutMs: number;
}
