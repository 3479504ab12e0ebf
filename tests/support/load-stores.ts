import type { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { TEST_NOW_MS } from './event-line.ts';
import { frameOf, type LoggedEvent } from './load-frames.ts';
import { type LogAndWarehouse, openLogAndWarehouse } from './log-and-warehouse.ts';
import { openTestPool } from './test-pool.ts';

/** Everything between the log and the counters, real and empty: a log, a database and a warehouse. */
export interface LoadStores extends LogAndWarehouse {
  pool: Pool;
  postgresUrl: string;
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

const TIMEOUT_MS = 60_000;

/** For the running test. */
export async function openLoadStores(log: { segmentBytesMax?: number } = {}): Promise<LoadStores> {
  const { pool, url: postgresUrl } = await openTestPool(onTestFinished);
  const stores = await openLogAndWarehouse(onTestFinished, log);
  const { writer, warehouse } = stores;
  const rows = <Row>(sql: string) => warehouse.query<Row>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS });
  return {
    ...stores,
    pool,
    postgresUrl,
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
