import { Client, type QueryResultRow } from 'pg';

const CONNECT_TIMEOUT_MS = 10_000;

/** Where it breaks, the query under way or the next one rejects. */
export async function connectClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** On a connection of its own. */
export async function withClient<T>(url: string, act: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectClient(url);
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}

/** One statement, on a connection of its own. */
export function queryOnce<Row extends QueryResultRow>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(sql, values)).rows);
}
