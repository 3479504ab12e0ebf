/**
 * `npm run bench:lists`: how long a page of a list of 100,000 customers takes over HTTP, on an otherwise idle
 * instance, one request after the other. Prints and stores figures; asserts nothing. `-- --customers N` takes
 * another length.
 */
import type { Api } from '../tests/support/api.ts';
import type { Instance } from '../tests/support/instance.ts';
import { withClient } from '../tests/support/with-client.ts';
import { measureInstance } from './measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { spreadOf, timed, toOneDigit } from './samples.ts';

const OPTIONS = { customers: { type: 'string', default: '100000' } } as const;
const PAGE_SIZE = 20;
const SAMPLES = 200;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const customers = numberOption('customers', values.customers, OF_A_SCRIPT.count);
  await measureInstance(1, async ({ instance, api }) => {
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
      searchOfNone: 'q=no such customer',
    };
    const responseMs: Record<string, object> = {};
    for (const [name, query] of Object.entries(lists)) {
      responseMs[name] = await readTimes(api, query);
      process.stdout.write(`${name} ${JSON.stringify(responseMs[name])}\n`);
    }
    const figures = { customers, pageSize: PAGE_SIZE, samples: SAMPLES, responseMs };
    process.stdout.write(`${keepResult('lists', figures)}\n`);
  });
}

/** As they would have come over a month, and as they are after a night: vacuumed, with statistics. */
async function insertCustomers({ postgresUrl, keys }: Instance, count: number): Promise<void> {
  await withClient(postgresUrl(), async (client) => {
    await client.query(
      `INSERT INTO customers (id, environment, external_id, name, email, created_at, updated_at)
       SELECT 'cus_' || translate(md5(n::text), '0189', 'wxyz'), $1, 'ext-' || n,
              'Customer ' || n, 'customer' || n || '@example.com', at, at
         FROM generate_series(1, $2::int) AS n, LATERAL (SELECT now() - n * interval '25 s') AS time (at)`,
      [`${keys().workspaceId}:live`, count],
    );
    await client.query('VACUUM (ANALYZE) customers');
  });
}

async function readTimes(api: Api, query: string): Promise<object> {
  const times: number[] = [];
  let total: unknown;
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    const read = async () => {
      const response = await api.call('GET', `/customers?${encodeURI(query)}`);
      if (response.status !== 200) throw new Error(`${query} returned ${response.status}`);
      total = (response.body as { total: string }).total;
    };
    times.push(await timed(read));
  }
  const { p50, p99 } = spreadOf(times, toOneDigit);
  return { total: Number(String(total).slice(1)), p50, p99 };
}

await runScript('bench:lists', main);
