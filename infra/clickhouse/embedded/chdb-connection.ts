import { type ClickHouseClient, type ClickHouseClientConfigOptions, createClient } from '@clickhouse/client';
import { type ChdbConnection, createChdbConnection } from 'chdb/connection';
import type { Logger } from 'pino';
import type { Settings } from '../connection-settings.ts';
import { unavailable } from '../driver-errors.ts';

export interface ChdbConnectionHandle {
  /**
   * Runs `work` after the calls before it. Throws Transient `warehouse_unavailable` when it has not ended
   * after `timeoutMs`; the engine then continues by itself, and the connection stays busy until it is done.
   */
  run<T>(timeoutMs: number, work: (session: ChdbSession) => Promise<T>): Promise<T>;
  /** Waits for what runs. */
  close(): Promise<void>;
}

export interface ChdbSession {
  client: ClickHouseClient;
  connection: ChdbConnection;
}

export interface ChdbConnectionHandleOptions {
  directory: string;
  settings: Settings;
  log: Logger;
}

/** Statements that wait for a connection; a further one fails with `warehouse_unavailable`. */
const WAITING_MAX = 1_000;

/**
 * One connection that takes one statement at a time. The engine would queue them itself, but each one that
 * waits there holds one of the four threads on which this process reads files.
 *
 * A connection that had an error is replaced (0.7 ms): rows that a failed statement had already made would
 * come out in front of the next one's result.
 */
export function openChdbConnection({
  directory,
  settings,
  log,
}: ChdbConnectionHandleOptions): ChdbConnectionHandle {
  let session = openSession(directory, settings);
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function take<T>(isLate: () => boolean, work: (session: ChdbSession) => Promise<T>): Promise<T> {
    if (isLate()) throw unavailable();
    try {
      return await work(await session);
    } catch (error) {
      replace(session);
      throw error;
    }
  }

  /** The new one is opened first: without any connection the engine itself would stop. */
  function replace(old: Promise<ChdbSession>): void {
    session = openSession(directory, settings);
    Promise.all([old, session])
      .then(([{ client }]) => client.close())
      .catch((err: unknown) => log.warn({ err }, 'cannot replace a connection'));
  }

  return {
    async run(timeoutMs, work) {
      if (waiting >= WAITING_MAX) throw unavailable();
      waiting += 1;
      let late = false;
      const turn = last
        .then(() => take(() => late, work))
        .finally(() => {
          waiting -= 1;
        });
      last = turn.catch(() => undefined);
      return withinTime(turn, timeoutMs, () => {
        late = true;
      });
    },
    async close() {
      await last;
      const { client } = await session;
      await client.close();
    },
  };
}

export async function openSession(directory: string, settings: Settings): Promise<ChdbSession> {
  const connection = createChdbConnection({ path: directory });
  // chdb's declarations name the same interface of another package, which differs in optional fields only.
  const client = createClient({
    connection: connection as unknown as NonNullable<ClickHouseClientConfigOptions['connection']>,
  });
  const assignments = Object.entries(settings).map(([name, value]) => {
    return `${name} = ${typeof value === 'number' ? value : `'${value}'`}`;
  });
  await client.command({ query: `SET ${assignments.join(', ')}` });
  return { client, connection };
}

async function withinTime<T>(turn: Promise<T>, timeoutMs: number, onLate: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      onLate();
      reject(unavailable());
    }, timeoutMs);
  });
  try {
    return await Promise.race([turn, late]);
  } finally {
    clearTimeout(timer);
  }
}
