import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { eventRecord, idOfVoid } from './event-record.ts';

/** Rows of one response: about 12 MB of JSON. */
const ROWS_MAX = 100_000;
const TIMEOUT_MS = 60_000;

/** Each has records: those of changes of usage are on the log as all are. */
const TABLES = ['events', 'change_events', 'voided_events'] as const;

/**
 * Records of all stored events, of each table the earliest first. Events that are stored meanwhile may be
 * left out: they are still on the log.
 */
export async function* storedRecords(warehouse: Warehouse, rowsMax = ROWS_MAX): AsyncGenerator<Buffer> {
  for (const table of TABLES) {
    const span = await creationSpan(warehouse, table);
    for await (const window of windowsOf(warehouse, { ...span, rowsMax })) {
      yield await recordsOf(warehouse, window);
    }
  }
}

/** Times of creation, half-open. */
interface Window {
  table: (typeof TABLES)[number];
  fromMs: number;
  toMs: number;
}

async function creationSpan(warehouse: Warehouse, table: Window['table']): Promise<Window> {
  const [row] = await query<{ first: string; last: string }>(
    warehouse,
    `SELECT toUnixTimestamp64Milli(min(created_at)) AS first, toUnixTimestamp64Milli(max(created_at)) AS last
     FROM metergate.${table}`,
  );
  return { table, fromMs: Number(row?.first ?? 0), toMs: Number(row?.last ?? 0) + 1 };
}

/**
 * Halves the time until so few events are in each part. Events lie on the disk about in the order of their
 * creation and carry a span of it, so what a part costs is about what is in it.
 */
async function* windowsOf(
  warehouse: Warehouse,
  { rowsMax, ...window }: Window & { rowsMax: number },
): AsyncGenerator<Window> {
  const events = await countCreated(warehouse, window);
  if (events === 0) return;
  const middleMs = Math.floor((window.fromMs + window.toMs) / 2);
  if (events <= rowsMax || middleMs === window.fromMs) {
    yield window;
  } else {
    yield* windowsOf(warehouse, { ...window, toMs: middleMs, rowsMax });
    yield* windowsOf(warehouse, { ...window, fromMs: middleMs, rowsMax });
  }
}

const CREATED = `created_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND created_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')`;

async function countCreated(warehouse: Warehouse, window: Window): Promise<number> {
  const sql = `SELECT count() AS events FROM metergate.${window.table} WHERE ${CREATED}`;
  const [row] = await query<{ events: string }>(warehouse, sql, window);
  return Number(row?.events ?? 0);
}

interface Row {
  id: string;
  ofChange: string;
  fingerprint: string;
  occurredAtMs: string;
  createdAtMs: string;
}

/**
 * Grouped by id instead of FINAL, which would read every month again: stored twice, it is the same event. An
 * event that two changes have voided, one after the other, has two voids.
 */
async function recordsOf(warehouse: Warehouse, window: Window): Promise<Buffer> {
  const areVoids = window.table === 'voided_events';
  const change = areVoids ? 'change' : 'toUInt64(0)';
  const rows = await query<Row>(
    warehouse,
    `SELECT id, toString(${change}) AS ofChange, argMin(fingerprint, created_at) AS fingerprint,
            toUnixTimestamp64Milli(argMin(occurred_at, created_at)) AS occurredAtMs,
            toUnixTimestamp64Milli(min(created_at)) AS createdAtMs
     FROM metergate.${window.table} WHERE ${CREATED} GROUP BY id, ${change}`,
    window,
  );
  return Buffer.concat(
    rows.map(({ id, ofChange, fingerprint, occurredAtMs, createdAtMs }) =>
      eventRecord({
        id: /* mutant: keys-rebuilt-without-voids */ areVoids ? idOfVoid(Number(ofChange), id) : id,
        fingerprint,
        occurredAtMs: Number(occurredAtMs),
        createdAtMs: Number(createdAtMs),
      }),
    ),
  );
}

/** On the connection for long reads, in pieces: breakdowns run in between. */
function query<Found>(warehouse: Warehouse, sql: string, window?: Window): Promise<Found[]> {
  const params = window === undefined ? {} : { params: { fromMs: window.fromMs, toMs: window.toMs } };
  return warehouse.query<Found>({ sql, connection: 'long', timeoutMs: TIMEOUT_MS, ...params });
}
