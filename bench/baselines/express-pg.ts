/**
 * What goal G4 compares with, the first design that comes to mind: Express, and one INSERT … ON CONFLICT for
 * each event. Responds once it is committed. The connection string is its argument; prints its URL.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.argv[2], max: 8 });
await pool.query(`CREATE TABLE IF NOT EXISTS bench_naive (
  idempotency_key text PRIMARY KEY, customer_id text NOT NULL, meter_id text NOT NULL,
  value numeric NOT NULL, occurred_at timestamptz NOT NULL, properties jsonb NOT NULL)`);

const app = express();
app.use(express.json());
app.post('/api/v1/usage/events', async (request, response) => {
  const { customerId, meterId, value, occurredAt, properties } = request.body;
  const key = request.get('idempotency-key');
  const { rowCount } = await pool.query(
    `INSERT INTO bench_naive VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (idempotency_key) DO NOTHING`,
    [key, customerId, meterId, value, occurredAt, properties],
  );
  if (rowCount === 0) response.set('Idempotent-Replayed', 'true');
  response.status(201).json(request.body);
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
// Connections stay open between two turns.
server.keepAliveTimeout = 65_000;
