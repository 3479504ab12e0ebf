import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Logger } from 'pino';
import type { Warehouse } from '../ports/warehouse.ts';
import {
  CLUSTER_SETTINGS,
  type ConnectionName,
  SETTINGS_BY_CONNECTION,
  type Settings,
} from './connection-settings.ts';
import { unavailable } from './driver-errors.ts';
import { checkTaken } from './taken-rows.ts';
import { type BlockInsert, lineInsert, rowInserts, type Transport } from './transport.ts';
import { createWarehouseOver } from './warehouse-over.ts';

export interface ClickHouseWarehouseOptions {
  /** `http://user:password@host:8123`. */
  url: string;
  /** Its servers all hold the data, and the URL is of one of them. */
  cluster?: string | undefined;
  log: Logger;
}

const COMMAND_TIMEOUT_MS = 60_000;
/** Sockets per connection kind; a further statement waits for one within its own time limit. */
const CONNECTIONS_MAX: Record<ConnectionName, number> = { load: 2, counters: 16, settlement: 2, long: 4 };

/** A ClickHouse server, over its HTTP interface. */
export function createClickHouseWarehouse({ url, cluster, log }: ClickHouseWarehouseOptions): Warehouse {
  const settings = cluster === undefined ? {} : CLUSTER_SETTINGS;
  const open = (connection: ConnectionName) => openConnection(url, connection, settings);
  const connections = {
    load: open('load'),
    counters: open('counters'),
    settlement: open('settlement'),
    long: open('long'),
  };

  const transport: Transport = {
    rows: ({ sql, params, connection, timeoutMs }) =>
      withinTime(timeoutMs, async (signal) => {
        const result = await connections[connection].query({
          query: sql,
          format: 'JSONEachRow',
          abort_signal: signal,
          clickhouse_settings: { max_execution_time: timeoutMs / 1000 },
          ...(params === undefined ? {} : { query_params: params }),
        });
        return result.json();
      }),
    command: (sql, timeoutMs = COMMAND_TIMEOUT_MS) =>
      withinTime(timeoutMs, async (signal) => {
        await connections.load.command({ query: sql, abort_signal: signal });
      }),
    insert: (lines) =>
      withinTime(lines.timeoutMs, (signal) =>
        sendBlock(connections.load, lineInsert(lines), { token: lines.token, signal }),
      ),
    insertRows: (rows) =>
      withinTime(rows.timeoutMs, async (signal) => {
        for (const insert of rowInserts(rows)) {
          await sendBlock(connections.load, insert, { token: rows.token, signal });
        }
      }),
    async close() {
      await Promise.all(Object.values(connections).map((client) => client.close()));
      log.debug('closed the connections to ClickHouse');
    },
  };
  return createWarehouseOver(transport, { cluster, log });
}

function openConnection(url: string, connection: ConnectionName, settings: Settings): ClickHouseClient {
  return createClient({
    url,
    application: `metergate-${connection}`,
    max_open_connections: CONNECTIONS_MAX[connection],
    // Each statement brings its own limit; this one only ends what forgot to.
    request_timeout: 10 * COMMAND_TIMEOUT_MS,
    clickhouse_settings: { ...SETTINGS_BY_CONNECTION[connection], ...settings },
    // Questions about many customers at once are longer than an address may be.
    use_multipart_params_auto: true,
    // Its failures are thrown, and the caller that gives up logs them.
    log: { level: ClickHouseLogLevel.OFF },
  });
}

async function sendBlock(
  client: ClickHouseClient,
  insert: BlockInsert,
  { token, signal }: { token: string | undefined; signal: AbortSignal },
): Promise<void> {
  const { into, format, block } = insert;
  const { stream, summary } = await client.exec({
    query: `INSERT INTO ${into} FORMAT ${format}`,
    values: Readable.from([block.bytes], { objectMode: false }),
    abort_signal: signal,
    clickhouse_settings: {
      // The response comes when all is on disk, not when the first bytes were read.
      wait_end_of_query: 1,
      ...(token === undefined ? {} : { insert_deduplication_token: token }),
    },
  });
  await stream.resume().toArray();
  if (summary && isFilled(summary)) checkTaken(insert, takenOf(insert, Number(summary.read_rows)));
}

/**
 * Since 22.9 a view of the table, as that of `event_ids`, counts as a second reader of each row; with a token
 * that is known it reads none.
 */
function takenOf({ block }: BlockInsert, readRows: number): number {
  return readRows === 2 * block.rows ? block.rows : readRows;
}

/**
 * Old servers report neither, and a proxy may leave the header out: then a body that is cut off is still an
 * error.
 */
function isFilled({ read_rows, written_rows }: Record<'read_rows' | 'written_rows', string>): boolean {
  return read_rows !== '0' || written_rows !== '0';
}

async function withinTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  // The rest of a lease has fractions of a second, which ClickHouse rejects.
  const signal = AbortSignal.timeout(Math.max(0, Math.ceil(timeoutMs)));
  try {
    return await work(signal);
  } catch (error) {
    throw signal.aborted ? unavailable(error) : error;
  }
}
