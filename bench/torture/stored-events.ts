import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { createChdbWarehouse } from '../../infra/clickhouse/chdb-warehouse.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { decodeFrame } from '../../schemas/frame.ts';
import type { Ledger } from '../ledger.ts';

const READ_BYTES = 4 * 1024 * 1024;
/** Of a line: the event's id. See schemas/event-row.ts. */
const ID_COLUMN = 3;
const SHOWN = 5;

/** How the log differs from the ledger: each acknowledged event stands there once, and nothing else. */
export async function compareLog(dataDir: string, ledger: Ledger): Promise<string[]> {
  const missing = new Set([...ledger.events()].map(({ id }) => id));
  const found: string[] = [];
  for await (const id of idsOnLog(dataDir)) {
    if (!missing.delete(id)) found.push(`${id}: is on the log twice, or was never acknowledged`);
  }
  found.push(...[...missing].map((id) => `${id}: was acknowledged and is not on the log`));
  return found.length > SHOWN ? [...found.slice(0, SHOWN), `and ${found.length - SHOWN} more`] : found;
}

async function* idsOnLog(dataDir: string): AsyncGenerator<string> {
  const reader = await openSegmentLogReader({ directory: join(dataDir, 'log') });
  try {
    for (let from = 0; ; ) {
      const frames = await reader.read(0, from, READ_BYTES);
      if (frames.length === 0) return;
      for (const { bytes, next } of frames) {
        const lines = decodeFrame(bytes).lines.toString().trimEnd().split('\n');
        for (const line of lines) yield String((JSON.parse(line) as unknown[])[ID_COLUMN]);
        from = next;
      }
    }
  } finally {
    await reader.close();
  }
}

/**
 * How the rows of a stopped Metergate's warehouse differ from the ledger. Without FINAL, so that a row stored
 * twice is seen before a merge hides it.
 */
export async function compareRows(dataDir: string, ledger: Ledger): Promise<string[]> {
  const log = pino({ level: 'silent' });
  const warehouse = createChdbWarehouse({ directory: join(dataDir, 'warehouse'), log });
  try {
    const [seen] = await warehouse.query<Record<string, string>>({
      sql: `SELECT count() AS rows, uniqExact(id) AS ids,
              (SELECT sum(events) FROM metergate.usage_hourly) AS counted FROM metergate.events`,
      lane: 'long',
      timeoutMs: 120_000,
    });
    const expected = {
      rows: String(ledger.size()),
      ids: String(ledger.size()),
      counted: String(ledger.size()),
    };
    return Object.entries(expected).flatMap(([name, count]) => {
      return seen?.[name] === count ? [] : [`the warehouse has ${name} ${seen?.[name]}, expected ${count}`];
    });
  } finally {
    await warehouse.close();
  }
}

/** What `npm run audit` says differs between rollup, stored events and log of a running Metergate. */
export async function auditFaults(dataDir: string): Promise<string[]> {
  const env = { ...process.env, DATA_DIR: dataDir };
  const run = promisify(execFile)(process.execPath, ['dist/aggregator/audit-command.js'], { env });
  const output = await run.then(
    ({ stdout }) => stdout,
    (error: Error & { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`,
  );
  if (/ 0 differences/.test(output)) return [];
  const lines = output.trim().split('\n');
  return [`the audit says: ${lines.at(-1)}`, ...lines.slice(0, Math.min(SHOWN, lines.length - 1))];
}
