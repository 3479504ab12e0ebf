import type { Pool, PoolClient } from 'pg';

/** Keeps a one-off fact of this installation. False when it was kept before: the first one stays. */
export async function keepFact(db: Pool | PoolClient, name: string, value: Buffer): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    [name, value],
  );
  return rowCount === 1;
}

export async function readFact(db: Pool | PoolClient, name: string): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ value: Buffer }>('SELECT value FROM installation WHERE name = $1', [
    name,
  ]);
  return rows[0]?.value;
}
