import type { Client } from 'pg';

/**
 * What goal G7 compares with: a sum over as many rows as the customer has events. Rows of others would lie
 * elsewhere in the index and in the table: they are not read, and are left out.
 */
export async function insertRawRows(client: Client, customer: string, count: number): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS bench_raw`);
  await client.query(`CREATE UNLOGGED TABLE bench_raw (
    customer_id text NOT NULL, meter_id text NOT NULL, value numeric NOT NULL,
    occurred_at timestamptz NOT NULL, properties jsonb NOT NULL)`);
  await client.query(
    `INSERT INTO bench_raw
     SELECT $1, 'bench', (n % 1000) + 0.125, now() - n * interval '1 ms',
            '{"p0": "value-1", "p1": 7, "p2": true}'
       FROM generate_series(1, $2::int) AS n`,
    [customer, count],
  );
  await client.query('CREATE INDEX ON bench_raw (customer_id, meter_id, occurred_at)');
  await client.query('VACUUM (ANALYZE) bench_raw');
}

export async function sumRawRows(client: Client, customer: string): Promise<void> {
  await client.query(
    `SELECT sum(value) FROM bench_raw
      WHERE customer_id = $1 AND meter_id = 'bench' AND occurred_at >= date_trunc('month', now())`,
    [customer],
  );
}
