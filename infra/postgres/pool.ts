import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig, types } from 'pg';
import type { Logger } from 'pino';

export interface PoolOptions {
  /** As a function it is called before each connection: an embedded server comes back on another port. */
  url: string | (() => string | undefined);
  /** Shown in pg_stat_activity. */
  name: string;
  log: Logger;
  max?: number;
  statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 10_000;
/** How long after the server should have given up a statement we give up the server. */
const SILENCE_MS = 2_000;
const IDLE_TIMEOUT_MS = 30_000;
/**
 * A connection that hangs in a transaction loses its locks after this; our transactions wait only for
 * Postgres.
 */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** For running statements and the server's goodbye when the pool ends: a server that hangs gives neither. */
const GOODBYE_MS = 1_000;
const INT8 = 20;
/** Where no server listens (tcpmux): without any URL the driver would search by the PG… variables. */
export const NOWHERE_URL = 'postgres://127.0.0.1:1/none';

/** Connections with every wait timed. `numeric` stays text; bigint is a number where one is exact. */
export function createPool(options: PoolOptions): Pool {
  const { url, name, log, max = 10, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const sockets = new Set<Socket>();
  const pool = new EndingPool(sockets, {
    Client: clientTo(typeof url === 'string' ? () => url : url),
    stream: () => openSocket(sockets),
    application_name: `metergate-${name}`,
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + SILENCE_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser },
  });
  // A connection that fails while it is lent out emits an error itself; without a listener that ends the
  // process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (error) => {
    // An embedded server that stops next may end a connection before it has read the goodbye.
    if (!pool.ending) log.warn({ code: codeOf(error) }, 'an idle Postgres connection broke');
  });
  return pool;
}

/** A pool whose end takes no longer than its goodbye. */
class EndingPool extends Pool {
  readonly #sockets: Set<Socket>;

  constructor(sockets: Set<Socket>, config: PoolConfig) {
    super(config);
    this.#sockets = sockets;
  }

  override async end(): Promise<void> {
    const late = setTimeout(() => {
      // mutant: goodbye-awaited
      for (const socket of this.#sockets) socket.destroy();
    }, GOODBYE_MS);
    try {
      await super.end();
    } finally {
      clearTimeout(late);
    }
  }
}

function openSocket(sockets: Set<Socket>): Socket {
  const socket = new Socket();
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  return socket;
}

/** The pool makes its connections by this class: the only place where a URL can still change. */
function clientTo(url: () => string | undefined): typeof Client {
  return class extends Client {
    constructor(config?: string | ClientConfig) {
      super({ ...(config as ClientConfig), connectionString: url() || NOWHERE_URL });
    }
  };
}

/**
 * Commits what `work` did when it returns, undoes it when it throws. With `lockWaitMs` a statement that waits
 * longer for a lock fails, at no further round trip.
 */
export async function inTransaction<T>(
  pool: Pool,
  work: (client: PoolClient) => Promise<T>,
  { lockWaitMs }: { lockWaitMs?: number } = {},
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(lockWaitMs === undefined ? 'BEGIN' : `BEGIN; SET LOCAL lock_timeout = ${lockWaitMs}`);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    broken = await undo(client);
    throw error;
  } finally {
    client.release(broken);
  }
}

async function undo(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('ROLLBACK failed');
  }
}

function getTypeParser(...[oid, format]: Parameters<typeof types.getTypeParser>): unknown {
  if (oid !== INT8 || format === 'binary') return types.getTypeParser(oid, format);
  return (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : text);
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.name;
}
