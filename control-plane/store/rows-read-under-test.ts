import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../infra/postgres/pool.ts';

/** How many rows of a table, or entries of its indexes, a function reads. */
export function rowsRead(
  pool: Pool,
  table: string,
  reading: (db: PoolClient) => Promise<void>,
): Promise<number> {
  return inTransaction(pool, async (db) => {
    const before = await rowsReadLately(db, table);
    await reading(db);
    return (await rowsReadLately(db, table)) - before;
  });
}

/** By this connection. */
async function rowsReadLately(db: PoolClient, table: string): Promise<number> {
  const { rows } = await db.query<{ read: string }>(
    `SELECT sum(pg_stat_get_xact_tuples_returned(place)) AS read
       FROM (SELECT $1::regclass AS place
             UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = $1::regclass) AS places`,
    [table],
  );
  return Number(rows[0]?.read);
}
