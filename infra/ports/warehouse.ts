/**
 * ClickHouse, in process or as a server. One SQL dialect; the statements live with those who need them.
 */
export interface Warehouse {
  /** Creates what is missing, in order. Runs twice without harm. Throws Fatal `warehouse_newer`. */
  migrate(): Promise<void>;

  /**
   * Loads one block of lines (schemas/event-row.ts) into `events` and every view behind it, once per token:
   * the same bytes under the same token may be sent any number of times. Returns after the rows are on disk.
   *
   * Throws Poison `block_refused` when a line cannot be read: nothing of the block was stored. Throws
   * Transient `warehouse_unavailable` when the outcome is unknown: send the same bytes again.
   */
  insertEvents(block: EventBlock): Promise<void>;

  /** Reads the lines as an insert would, storing nothing. False when any line would be refused. */
  accepts(lines: Buffer): Promise<boolean>;

  /**
   * Rows of a statement with `{name:Type}` parameters. Each lane is a connection of its own, so a `long` read
   * delays neither the load nor a counter. Throws Transient `warehouse_unavailable`, also when `timeoutMs`
   * ends.
   */
  query<Row>(statement: Statement): Promise<Row[]>;

  close(): Promise<void>;
}

export interface EventBlock {
  token: string;
  lines: Buffer;
  timeoutMs: number;
}

export interface Statement {
  sql: string;
  params?: Record<string, string | number | string[]>;
  lane: 'load' | 'counters' | 'long';
  timeoutMs: number;
}
