import type { Queryable } from './queryable.ts';
import type { Range } from './ranges.ts';

export interface RejectedLine {
  /** Counted from 0 over the whole range. */
  line: number;
  body: Buffer;
}

/** Keeps the lines for the operator. Again with the same line: nothing changes. */
export async function keepRejectedLines(
  db: Queryable,
  { logId, partition, lo }: Range,
  lines: RejectedLine[],
  reason: string,
): Promise<void> {
  await db.query(
    `INSERT INTO quarantine (log_id, partition, lo, line, body, reason)
     SELECT $1, $2, $3, line, body, $6 FROM unnest($4::integer[], $5::bytea[]) AS rejected (line, body)
     ON CONFLICT DO NOTHING`,
    [logId, partition, lo, lines.map(({ line }) => line), lines.map(({ body }) => body), reason],
  );
}

/** A kept line and where it was. */
export interface KeptLine {
  logId: string;
  partition: number;
  lo: number;
  line: number;
  body: Buffer;
}

/** Lines of all logs behind one of them, in the order of the table; from the first on without it. */
export async function keptLinesAfter(
  db: Queryable,
  after: Omit<KeptLine, 'body'> | undefined,
  rowsMax: number,
): Promise<KeptLine[]> {
  const { logId, partition, lo, line } = after ?? { logId: '', partition: 0, lo: 0, line: 0 };
  const { rows } = await db.query<KeptLine>(
    `SELECT log_id AS "logId", partition, lo, line, body FROM quarantine
     WHERE (log_id, partition, lo, line) > ($1, $2, $3, $4)
     ORDER BY log_id, partition, lo, line LIMIT $5`,
    [logId, partition, lo, line, rowsMax],
  );
  return rows;
}
