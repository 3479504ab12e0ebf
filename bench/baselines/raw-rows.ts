import type { Client } from 'pg';

/** What goal G7 compares with: as many rows as there are events, and a sum over those of one customer. */
export async function insertRawRows(
  client: Client,
  customers: readonly string[],
  counts: readonly number[],
): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS bench_raw`);
  await client.query(`CREATE UNLOGGED TABLE bench_raw (
    customer_id text NOT NULL, meter_id text NOT NULL, value numeric NOT NULL,
    occurred_at timestamptz NOT NULL, properties jsonb NOT NULL)`);
  for (const [at, customer] of customers.entries()) {
    await client.query(
      `INSERT INTO bench_raw
       SELECT $1, 'bench', (n % 1000) + 0.125, now() - n * interval '1 ms',
              '{"p0": "value-1", "p1": 7, "p2": true}'
         FROM generate_series(1, $2::int) AS n`,
      [customer, counts[at] ?? 0],
    );
  }
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
