import { Client } from 'pg';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../infra/platform/endpoints-file.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Rows of a statement. A connection each time: the server may have been killed meanwhile, and be at another
 * port. Rejects while it is unavailable.
 */
export async function queryPostgres<Row extends object>(
  url: string | undefined,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url ?? '', connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined); // the failing query reports it
  try {
    await client.connect();
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Where the Postgres of a Metergate is now. */
export function postgresUrlOf({ dataDir }: { dataDir: string }): string | undefined {
  return readEndpoints(dataDirAt(dataDir).endpoints)?.postgresUrl;
}
