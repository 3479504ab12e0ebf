import type { Statement } from '../ports/warehouse.ts';

/** How statements reach ClickHouse. Throws what its driver throws, and Transient when a time limit ends. */
export interface Transport {
  rows<Row>(statement: Statement): Promise<Row[]>;
  /** A statement without rows, on the load connection. */
  command(sql: string): Promise<void>;
  /** Lines of JSONCompactEachRow as one block. With a token they are taken once. */
  insert(lines: LineBlock): Promise<void>;
  close(): Promise<void>;
}

export interface LineBlock {
  table: string;
  lines: Buffer;
  token?: string;
  timeoutMs: number;
}
