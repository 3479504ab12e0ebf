/**
 * `npm run bench:lists`: how long a page of a list of 100,000 customers takes over HTTP, on an otherwise idle
 * instance, one request after the other. Prints and stores figures; asserts nothing. `-- --customers N` takes
 * another length.
 */

import { Client } from 'pg';
import { dataDirAt } from '../infra/platform/data-dir.ts';
import { readEndpoints } from '../infra/platform/endpoints-file.ts';
import type { Api } from '../tests/support/api.ts';
import { percentile } from '../tests/support/freshness-probe.ts';
import type { Instance } from '../tests/support/instance.ts';
import { openInstance } from '../tests/support/open-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from './read-options.ts';
import { keepResult } from './result-file.ts';

const OPTIONS = { customers: { type: 'string', default: '100000' } } as const;
const PAGE_SIZE = 20;
const SAMPLES = 200;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const customers = numberOption('customers', values.customers, OF_A_SCRIPT.things);
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 1 });
  try {
    await insertCustomers(instance, customers);
    const lastPage = Math.ceil(customers / PAGE_SIZE);
    const lists = {
      firstPage: 'page=1',
      middlePage: `page=${Math.ceil(lastPage / 2)}`,
      lastPage: `page=${lastPage}`,
      firstPageOf100: 'page=1&pageSize=100',
      byEmail: 'email=Customer77@example.com',
      searchOfOne: 'q=customer77777@',
      searchOfAThousand: 'q=Customer 77',
      searchOfAllFirstPage: 'q=customer',
      searchOfAllLastPage: `q=customer&page=${lastPage}`,
      searchOfNone: 'q=nobody at all',
    };
    const responseMs: Record<string, object> = {};
    for (const [name, query] of Object.entries(lists)) {
      responseMs[name] = await timed(api, query);
      process.stdout.write(`${name} ${JSON.stringify(responseMs[name])}\n`);
    }
    const figures = { customers, pageSize: PAGE_SIZE, samples: SAMPLES, responseMs };
    process.stdout.write(`${keepResult('lists', figures)}\n`);
  } finally {
    await close();
  }
}

/** As they would have come over a month, and as they are after a night: vacuumed, with statistics. */
async function insertCustomers({ dataDir, keys }: Instance, count: number): Promise<void> {
  const endpoints = readEndpoints(dataDirAt(dataDir).endpoints);
  const client = new Client({ connectionString: endpoints?.postgresUrl ?? '' });
  await client.connect();
  try {
    await client.query(
      `INSERT INTO customers (id, environment, external_id, name, email, created_at, updated_at)
       SELECT 'cus_' || translate(md5(n::text), '0189', 'wxyz'), $1, 'ext-' || n,
              'Customer ' || n, 'customer' || n || '@example.com', at, at
         FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * interval '25 s') AS time (at)`,
      [`${keys().workspaceId}:live`, count],
    );
    await client.query('VACUUM (ANALYZE) customers');
  } finally {
    await client.end();
  }
}

async function timed(api: Api, query: string): Promise<object> {
  const times: number[] = [];
  let total: unknown;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const startedAt = performance.now();
    const response = await api.call('GET', `/customers?${encodeURI(query)}`);
    times.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${query} returned ${response.status}`);
    total = (response.body as { total: string }).total;
  }
  const rounded = (percent: number) => Math.round(percentile(times, percent) * 10) / 10;
  return { total: Number(String(total).slice(1)), p50: rounded(50), p99: rounded(99) };
}

await runScript('bench:lists', main);
