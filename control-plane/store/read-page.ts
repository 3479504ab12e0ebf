import type { QueryResultRow } from 'pg';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';

/** Rows of one environment, as parts of a statement. All of it is our own text; values are parameters. */
export interface List {
  columns: string;
  from: string;
  /** Its values are named $1, $2, … */
  where: string;
  values: unknown[];
}

/** The rows of one parent: those with its id in this column. */
export function listOf({ where, values, ...list }: List, column: string, id: string): List {
  return { ...list, where: `${where} AND ${column} = $${values.length + 1}`, values: [...values, id] };
}

/**
 * One page, newest first, ties by id, with the total. A page of the second half is read from the other end:
 * the last page of a long list costs no more than the first (15 ms of 100,000, nearly all of it the total).
 */
export async function readPage<Row extends QueryResultRow>(
  db: Database,
  { columns, from, where, values }: List,
  { page, pageSize }: PageQuery,
): Promise<{ rows: Row[]; total: number }> {
  const counted = await db.query<{ total: number }>(
    `SELECT count(*) AS total FROM ${from} WHERE ${where}`,
    values,
  );
  const total = counted.rows[0]?.total ?? 0;
  const before = (page - 1) * pageSize;
  if (before >= total) return { rows: [], total };
  const limit = Math.min(pageSize, total - before);
  const behind = total - before - limit;
  const isFromEnd = behind < before;
  const order = isFromEnd ? 'ASC' : 'DESC';
  const { rows } = await db.query<Row>(
    `SELECT ${columns} FROM ${from} WHERE ${where} ORDER BY created_at ${order}, id ${order}
     OFFSET $${values.length + 1} LIMIT $${values.length + 2}`,
    [...values, isFromEnd ? behind : before, limit],
  );
  return { rows: isFromEnd ? rows.reverse() : rows, total };
}
