import { join } from 'node:path';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createChdbWarehouse } from '../../infra/clickhouse/chdb-warehouse.ts';
import type { EventLogReader, EventLogWriter } from '../../infra/ports/event-log.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../../infra/segment-log/writer.ts';
import { TEST_NOW_MS } from './event-line.ts';
import { frameOf, type LoggedEvent } from './load-frames.ts';
import { createTestDatabase } from './test-database.ts';
import { testFolder } from './test-folder.ts';

/** Everything between the log and the counters, real and empty: a log, a database and a warehouse. */
export interface LoadStores {
  pool: Pool;
  postgresUrl: string;
  warehouse: Warehouse;
  logDirectory: string;
  writer: EventLogWriter;
  reader: EventLogReader;
  /** Puts one frame on the log, and gives the position behind it. `line` replaces what an event says. */
  append(events: LoggedEvent[], committedAtMs?: number): Promise<number>;
  /** Rows of a statement, in ClickHouse. */
  rows<Row>(sql: string): Promise<Row[]>;
  /** What the warehouse holds: rows and distinct ids of `events`, and what the hours say. */
  counted(): Promise<Counted>;
}

export interface Counted {
  rows: number;
  distinct: number;
  total: string;
  hourlyEvents: number;
  hourlyTotal: string;
}

const log = pino({ level: 'silent' });
const TIMEOUT_MS = 10_000;

export interface LoadStoresOptions {
  segmentBytesMax?: number;
}

export async function openLoadStores(options: LoadStoresOptions = {}): Promise<LoadStores> {
  const folder = testFolder();
  const { pool, postgresUrl } = await openPool();
  const warehouse = createChdbWarehouse({ directory: join(folder, 'warehouse'), log });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate();
  const directory = join(folder, 'log');
  const writer = await openSegmentLogWriter({ directory, identityCheck: Buffer.alloc(16), log, ...options });
  onTestFinished(() => writer.close());
  const reader = await openSegmentLogReader({ directory });
  onTestFinished(() => reader.close());

  const rows = <Row>(sql: string) => warehouse.query<Row>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });
  return {
    pool,
    postgresUrl,
    warehouse,
    logDirectory: directory,
    writer,
    reader,
    rows,
    async append(events, committedAtMs = TEST_NOW_MS) {
      const outcome = await writer.append(frameOf(writer.logId, events, committedAtMs));
      if (outcome.status !== 'durable') throw new Error('the disk is full');
      return outcome.end;
    },
    async counted() {
      const [found] = await rows<Record<keyof Counted, string>>(
        `SELECT (SELECT count() FROM metergate.events) AS rows,
                (SELECT uniqExact(id) FROM metergate.events) AS distinct,
                (SELECT sum(value) FROM metergate.events FINAL) AS total,
                (SELECT sum(events) FROM metergate.usage_hourly) AS hourlyEvents,
                (SELECT sum(total) FROM metergate.usage_hourly) AS hourlyTotal`,
      );
      return {
        rows: Number(found?.rows),
        distinct: Number(found?.distinct),
        total: String(found?.total),
        hourlyEvents: Number(found?.hourlyEvents),
        hourlyTotal: String(found?.hourlyTotal),
      };
    },
  };
}

async function openPool(): Promise<{ pool: Pool; postgresUrl: string }> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'test', log });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return { pool, postgresUrl: database.url };
}
