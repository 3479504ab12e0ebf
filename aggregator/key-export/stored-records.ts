import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { eventRecord } from './event-record.ts';

/** Rows of one response: about 12 MB of JSON. */
const ROWS_MAX = 100_000;
const TIMEOUT_MS = 60_000;

/**
 * Records of all stored events, the earliest first. Events that are stored meanwhile may be left out: they
 * are still on the log.
 */
export async function* storedRecords(warehouse: Warehouse, rowsMax = ROWS_MAX): AsyncGenerator<Buffer> {
  const { fromMs, toMs } = await creationSpan(warehouse);
  for await (const window of windowsOf(warehouse, { fromMs, toMs }, rowsMax)) {
    yield await recordsOf(warehouse, window);
  }
}

/** Times of creation, half-open. */
interface Window {
  fromMs: number;
  toMs: number;
}

async function creationSpan(warehouse: Warehouse): Promise<Window> {
  const [row] = await query<{ first: string; last: string }>(
    warehouse,
    `SELECT toUnixTimestamp64Milli(min(created_at)) AS first, toUnixTimestamp64Milli(max(created_at)) AS last
     FROM ${storedIn('true')}`,
  );
  return { fromMs: Number(row?.first ?? 0), toMs: Number(row?.last ?? 0) + 1 };
}

/**
 * Halves the time until so few events are in each part. Events lie on the disk about in the order of their
 * creation and carry a span of it, so what a part costs is about what is in it.
 */
async function* windowsOf(warehouse: Warehouse, window: Window, rowsMax: number): AsyncGenerator<Window> {
  const events = await countCreated(warehouse, window);
  if (events === 0) return;
  const middleMs = Math.floor((window.fromMs + window.toMs) / 2);
  if (events <= rowsMax || middleMs === window.fromMs) {
    yield window;
  } else {
    yield* windowsOf(warehouse, { fromMs: window.fromMs, toMs: middleMs }, rowsMax);
    yield* windowsOf(warehouse, { fromMs: middleMs, toMs: window.toMs }, rowsMax);
  }
}

const CREATED = `created_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')`;

/** Also those of changes of usage: a backfill has keys of clients, which stay taken when it is reverted. */
function storedIn(where: string): string {
  const parts = ['events', 'change_events'].map(
    (table) => `SELECT id, fingerprint, occurred_at, created_at FROM metergate.${table} WHERE ${where}`,
  );
  return `(${parts.join(' UNION ALL ')})`;
}

async function countCreated(warehouse: Warehouse, window: Window): Promise<number> {
  const sql = `SELECT count() AS events FROM ${storedIn(CREATED)}`;
  const [row] = await query<{ events: string }>(warehouse, sql, window);
  return Number(row?.events ?? 0);
}

interface Row {
  id: string;
  fingerprint: string;
  occurredAtMs: string;
  createdAtMs: string;
}

/** Grouped by id instead of FINAL, which would read every month again: stored twice, it is the same event. */
async function recordsOf(warehouse: Warehouse, window: Window): Promise<Buffer> {
  const rows = await query<Row>(
    warehouse,
    `SELECT id, argMin(fingerprint, created_at) AS fingerprint,
            toUnixTimestamp64Milli(argMin(occurred_at, created_at)) AS occurredAtMs,
            toUnixTimestamp64Milli(min(created_at)) AS createdAtMs
     FROM ${storedIn(CREATED)} GROUP BY id`,
    window,
  );
  return Buffer.concat(
    rows.map(({ id, fingerprint, occurredAtMs, createdAtMs }) =>
      eventRecord({
        id,
        fingerprint,
        occurredAtMs: Number(occurredAtMs),
        createdAtMs: Number(createdAtMs),
      }),
    ),
  );
}

/** On the connection for long reads, in pieces: breakdowns run in between. */
function query<Found>(warehouse: Warehouse, sql: string, window?: Window): Promise<Found[]> {
  const params = window === undefined ? {} : { params: { ...window } };
  return warehouse.query<Found>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS, ...params });
}
