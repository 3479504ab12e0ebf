import type { Queryable } from './queryable.ts';
import type { Range } from './ranges.ts';

export interface RefusedLine {
  /** Counted from 0 over the whole range. */
  line: number;
  body: Buffer;
}

/** Keeps the lines for the operator. Again with the same line: nothing changes. */
export async function keepRefusedLines(
  db: Queryable,
  { logId, partition, lo }: Range,
  lines: RefusedLine[],
  reason: string,
): Promise<void> {
  await db.query(
    `INSERT INTO quarantine (log_id, partition, lo, line, body, reason)
     SELECT $1, $2, $3, line, body, $6 FROM unnest($4::integer[], $5::bytea[]) AS refused (line, body)
     ON CONFLICT DO NOTHING`,
    [logId, partition, lo, lines.map(({ line }) => line), lines.map(({ body }) => body), reason],
  );
}
