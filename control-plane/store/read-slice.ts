import type { QueryResultRow } from 'pg';
import type { Database } from '../http/request-context.ts';
import type { List } from './read-page.ts';

/** A row's place in its list, newest first. */
export interface RowPlace {
  /** Microseconds since 1970: several rows may be of one millisecond. */
  createdUs: number;
  placeId: string;
}

/** The rows after a place; without one from the newest on. */
export interface Slice {
  first: number;
  after: RowPlace | undefined;
}

export type PlacedRow<Row> = Row & RowPlace;

/** Rows of the list with this place, newest first, ties by id: one more than requested where more follow. */
export async function readSlice<Row extends QueryResultRow>(
  db: Database,
  list: List,
  slice: Slice,
): Promise<PlacedRow<Row>[]> {
  const { rows } = await db.query<PlacedRow<Row>>(sliceSql(list, slice), [
    ...list.values,
    ...valuesOf(slice),
  ]);
  return rows;
}

/** A list of which each parent has a part. */
export interface ListOfParents {
  /** Its `from` may name the parent as `parent.id`. */
  list: List;
  /** The column that names the parent. */
  column: string;
}

/** The same of each parent, in one statement. By parent: none has more than one row too many. */
export async function readSlices<Row extends QueryResultRow>(
  db: Database,
  { list, column }: ListOfParents,
  { parentIds, ...slice }: Slice & { parentIds: readonly string[] },
): Promise<Map<string, PlacedRow<Row>[]>> {
  const parents = `$${list.values.length + valuesOf(slice).length + 1}`;
  const ofParent = { ...list, where: `${list.where} AND ${column} = parent.id` };
  const { rows } = await db.query<PlacedRow<Row> & { parentId: string }>(
    `SELECT parent.id AS "parentId", one.* FROM unnest(${parents}::text[]) AS parent (id)
      CROSS JOIN LATERAL (${sliceSql(ofParent, slice)}) one`,
    [...list.values, ...valuesOf(slice), parentIds],
  );
  const byParent = new Map<string, PlacedRow<Row>[]>(parentIds.map((id) => [id, []]));
  for (const row of rows) byParent.get(row.parentId)?.push(row);
  return byParent;
}

export async function countList(db: Database, { from, where, values }: List): Promise<number> {
  const { rows } = await db.query<{ total: number }>(
    `SELECT count(*) AS total FROM ${from} WHERE ${where}`,
    values,
  );
  return rows[0]?.total ?? 0;
}

/** By parent. */
export async function countLists(
  db: Database,
  { list: { from, where, values }, column }: ListOfParents,
  parentIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ parentId: string; total: number }>(
    `SELECT parent.id AS "parentId",
            (SELECT count(*) FROM ${from} WHERE ${where} AND ${column} = parent.id) AS total
       FROM unnest($${values.length + 1}::text[]) AS parent (id)`,
    [...values, parentIds],
  );
  return new Map(rows.map(({ parentId, total }) => [parentId, total]));
}

function sliceSql({ columns, from, where, values }: List, { after }: Slice): string {
  const [limit, us, id] = [1, 2, 3].map((at) => `$${values.length + at}`);
  const place = `AND (created_at, id) < (timestamptz 'epoch' + ${us} * interval '1 microsecond', ${id})`;
  return `SELECT ${columns}, (extract(epoch FROM created_at) * 1000000)::bigint AS "createdUs",
            id::text AS "placeId"
       FROM ${from} WHERE ${where} ${after ? place : ''}
      ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

function valuesOf({ first, after }: Slice): unknown[] {
  return [first + 1, ...(after ? [after.createdUs, after.placeId] : [])];
}
