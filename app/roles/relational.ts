import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Closer } from '../../infra/platform/closer.ts';
import { retryUntilAvailable } from '../../infra/platform/retry-until-available.ts';
import { keepPostgres } from '../../infra/postgres/kept-postgres.ts';
import { migratePostgres } from '../../infra/postgres/migrate.ts';
import { createPool } from '../../infra/postgres/pool.ts';

export interface RelationalDeps {
  /** The operator's; absent: the embedded one. */
  databaseUrl?: string | undefined;
  /** Of the embedded cluster. */
  directory: string;
  log: Logger;
  closer: Closer;
  /** Rejects a database that is not Metergate's, before anything is made in it. */
  verify: (pool: Pool) => Promise<void>;
  /** The embedded server came back on another port. */
  onMoved: (url: string) => void;
}

export interface Relational {
  pool: Pool;
  url: () => string;
}

const POOL_CONNECTIONS_MAX = 20;

/** The embedded Postgres or the operator's, which is waited for, brought up to this release. */
export async function openRelational(deps: RelationalDeps): Promise<Relational> {
  const { log, closer, verify } = deps;
  const url = await locate(deps);
  const pool = createPool({ url, name: 'control', log, max: POOL_CONNECTIONS_MAX });
  closer.add('pool', { close: () => pool.end() });
  // mutant: database-unjudged
  await retryUntilAvailable('Postgres', () => verify(pool), log);
  await retryUntilAvailable('Postgres', () => migratePostgres(url()), log);
  return { pool, url };
}

async function locate({ databaseUrl, directory, log, closer, onMoved }: RelationalDeps) {
  if (databaseUrl !== undefined) return () => databaseUrl;
  const kept = keepPostgres({ directory, log, onMoved });
  // Before it has started: a recovery takes long, and a stop would leave it to write on.
  closer.add('postgres', { close: kept.close });
  return await kept.url;
}
