import { mkdirSync } from 'node:fs';
import { Session } from 'chdb';
import type { Logger } from 'pino';
import { Fatal } from '../../../schemas/failures.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { SETTINGS_BY_CONNECTION } from '../connection-settings.ts';
import { isLasting } from '../driver-errors.ts';
import { inlineParameters } from '../inline-parameters.ts';
import { lineInsert, rowInserts, type Transport } from '../transport.ts';
import { createWarehouseOver } from '../warehouse-over.ts';
import { type ChdbConnectionHandle, type ChdbSession, openChdbConnection } from './chdb-connection.ts';
import { createDamageWatch } from './damage-watch.ts';
import { createDurableWrites } from './durable-writes.ts';
import { createRowFiles } from './row-files.ts';
import { createStuckWatch, type StuckWatchOptions } from './stuck-watch.ts';

export interface ChdbWarehouseOptions {
  /** Belongs to one process, and a process has one such folder at a time. */
  directory: string;
  log: Logger;
  /** The engine fails for so long that only a new process can help: with the error to end this one. */
  onStuck?: (error: Fatal) => void;
  stuckAfterMs?: number;
  /** Between two looks at what merges wrote. */
  lookEveryMs?: number;
}

const COMMAND_TIMEOUT_MS = 60_000;
/** Longer than any insert, and longer than a short time without disk space. */
const STUCK_AFTER_MS = 60_000;
/** Settings of the engine, given with the first connection: merges yield to inserts and reads. */
const ENGINE_ARGUMENTS = ['--os_threads_nice_value_merge_mutate=10'];

/** ClickHouse's own engine in this process. Every connection opens the same folder. */
export function createChdbWarehouse(options: ChdbWarehouseOptions): Warehouse {
  const { directory, log, onStuck, stuckAfterMs = STUCK_AFTER_MS, lookEveryMs } = options;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const engine = new Session(directory, { connectionArgs: ENGINE_ARGUMENTS });
  const connections = openConnections(directory, log);
  const files = createRowFiles(directory);
  const stuck = (message: string) => (cause: unknown) =>
    onStuck?.(new Fatal('warehouse_stuck', message, { cause }));
  const onLoadStuck = stuck('ClickHouse takes nothing any more.');
  const load = watchLoad(connections.load, { afterMs: stuckAfterMs, onStuck: onLoadStuck });
  const { lookAt } = createDamageWatch({ onDamage: stuck('A part of the warehouse is damaged.') });
  const onFailure = stuck('What was written to the warehouse is not on disk.');
  const writing = { directory, connection: connections.load, log, onFailure };
  const writes = createDurableWrites({ ...writing, ...(lookEveryMs === undefined ? {} : { lookEveryMs }) });
  const write = (timeoutMs: number, work: (session: ChdbSession) => Promise<unknown>) =>
    load.write(timeoutMs, (session) => writes.write(session, work));

  const transport: Transport = {
    rows: ({ sql, params, connection, timeoutMs }) =>
      (connection === 'load' ? load : connections[connection]).run(timeoutMs, async ({ client }) => {
        const requested = client.query({
          query: inlineParameters(sql, params),
          format: 'JSONEachRow',
          clickhouse_settings: { max_execution_time: timeoutMs / 1000 },
        });
        requested.catch(lookAt);
        return (await requested).json();
      }),
    command: (sql, timeoutMs = COMMAND_TIMEOUT_MS) =>
      write(timeoutMs, ({ client }) => {
        const done = client.command({ query: sql, clickhouse_settings: { max_execution_time: 0 } });
        done.catch(lookAt);
        return done;
      }),
    insert: (lines) =>
      write(lines.timeoutMs, (session) => files.insert(session, lineInsert(lines), lines.token)),
    insertRows: (rows) =>
      write(rows.timeoutMs, async (session) => {
        for (const insert of rowInserts(rows)) await files.insert(session, insert, rows.token);
      }),
    async close() {
      writes.close();
      for (const connection of Object.values(connections).reverse()) await connection.close();
      // Last: with the last connection the engine stops.
      engine.close();
    },
  };
  return createWarehouseOver(transport, { damageIsRepaired: true, log });
}

/** Each with a connection of its own. */
function openConnections(directory: string, log: Logger) {
  const open = (connection: keyof typeof SETTINGS_BY_CONNECTION) =>
    openChdbConnection({
      directory,
      settings: SETTINGS_BY_CONNECTION[connection],
      log: log.child({ connection }),
    });
  return {
    load: open('load'),
    counters: open('counters'),
    settlement: open('settlement'),
    long: open('long'),
  };
}

/**
 * Writes are watched separately: an engine that rejects every insert still serves reads. And while the
 * connection is busy no insert is tried, since the loader checks first what runs before it sends a range
 * again.
 */
function watchLoad(connection: ChdbConnectionHandle, options: StuckWatchOptions) {
  const own = { ...options, isLasting };
  const [all, writes] = [createStuckWatch(own), createStuckWatch(own)];
  const run: ChdbConnectionHandle['run'] = (timeoutMs, work) =>
    all.watch(() => connection.run(timeoutMs, work));
  const write: ChdbConnectionHandle['run'] = (timeoutMs, work) => writes.watch(() => run(timeoutMs, work));
  return { run, write };
}
