/**
 * What goal G5 compares with, a good way with Postgres alone: uWebSockets.js, and one INSERT … UNNEST for
 * each batch. Responds once it is committed. The connection string is its argument; prints its URL.
 */

import type { HttpResponse } from 'uWebSockets.js';
import { Pool } from 'pg';
import { loadUws } from '../../infra/http/uws-binary.ts';

interface SentEvent {
  idempotencyKey: string;
  customerId: string;
  meterId: string;
  value: number;
  occurredAt: string;
  properties: object;
}

const pool = new Pool({ connectionString: process.argv[2], max: 8 });
await pool.query(`CREATE TABLE IF NOT EXISTS bench_unnest (
  idempotency_key text PRIMARY KEY, customer_id text NOT NULL, meter_id text NOT NULL,
  value numeric NOT NULL, occurred_at timestamptz NOT NULL, properties jsonb NOT NULL)`);

const uws = loadUws();
uws
  .App()
  .post('/api/v1/usage/events/batch', (response) => {
    let aborted = false;
    const chunks: Buffer[] = [];
    response.onAborted(() => {
      aborted = true;
    });
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!isLast) return;
      const { events } = JSON.parse(Buffer.concat(chunks).toString()) as { events: SentEvent[] };
      insert(events)
        .then((created) => aborted || respond(response, '200 OK', resultsOf(events.length, created)))
        .catch((error) => aborted || respond(response, '503 Unavailable', { error: String(error) }));
    });
  })
  .listen('127.0.0.1', 0, (socket) => {
    process.stdout.write(`http://127.0.0.1:${uws.us_socket_local_port(socket)}\n`);
  });

async function insert(events: SentEvent[]): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'insert',
    text: `INSERT INTO bench_unnest
           SELECT * FROM unnest(
             $1::text[], $2::text[], $3::text[], $4::numeric[], $5::timestamptz[], $6::jsonb[])
           ON CONFLICT (idempotency_key) DO NOTHING`,
    values: [
      events.map(({ idempotencyKey }) => idempotencyKey),
      events.map(({ customerId }) => customerId),
      events.map(({ meterId }) => meterId),
      events.map(({ value }) => value),
      events.map(({ occurredAt }) => occurredAt),
      events.map(({ properties }) => JSON.stringify(properties)),
    ],
  });
  return rowCount ?? 0;
}

function resultsOf(total: number, created: number): object {
  return { summary: { total, created, duplicate: total - created, errors: 0 } };
}

function respond(response: HttpResponse, status: string, body: object): void {
  response.cork(() => {
    response.writeStatus(status).writeHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  });
}
