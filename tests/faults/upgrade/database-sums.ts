import { createHash } from 'node:crypto';
import { Client } from 'pg';

/** Of each table its columns and rows: what a rejection must leave as it was. */
export async function databaseSums(url: string): Promise<Record<string, string>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const sums: Record<string, string> = {};
    for (const [name, columns] of await tablesOf(client)) {
      const { rows } = await client.query(`SELECT * FROM ${client.escapeIdentifier(name)} AS it ORDER BY it`);
      sums[name] = createHash('sha256')
        .update(JSON.stringify([columns, rows]))
        .digest('hex');
    }
    return sums;
  } finally {
    await client.end();
  }
}

async function tablesOf(client: Client): Promise<Array<[name: string, columns: string[]]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `SELECT table_name AS name,
       array_agg(concat_ws(' ', column_name, data_type, is_nullable, column_default) ORDER BY column_name)
         AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`,
  );
  return rows.map(({ name, columns }) => [name, columns]);
}
