import { createHash, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { requestAuditRun } from '../store/audit-runs.ts';

interface BrokenPart {
  table: string;
  name: string;
}

const TIMEOUT_MS = 10_000;
/** Ten days of parts that broke one by one: any number means the same. */
const PARTS_MAX = 1_000;

/** An audit gives up when its stores stay unavailable: then it is requested again. */
const EVERY_MS = 60_000;
/** Strong reads wait for a first look. */
const RETRY_MS = 1_000;

export interface RepairingOptions {
  log: Logger;
  /** The detached parts of this start are known, and their repair is requested. */
  onLook?: () => void;
  everyMs?: number;
}

/** Checks the warehouse regularly for detached parts, and requests their repair. */
export function keepRepairing(
  pool: Pool,
  warehouse: Warehouse,
  { log, onLook = () => undefined, everyMs = EVERY_MS }: RepairingOptions,
): { close(): Promise<void> } {
  const wakeup = createWakeup();
  const start = randomUUID();
  let closing = false;

  async function hasLooked(): Promise<boolean> {
    try {
      await requestRepair(pool, warehouse, { log, start });
      // mutant: damage-check-unreported
      onLook();
      return true;
    } catch (err) {
      log.warn({ err }, 'checking for detached parts failed');
      return false;
    }
  }

  async function keepLooking(): Promise<void> {
    // mutant: damage-looked-for-once
    while (!closing) await wakeup.wait((await hasLooked()) ? everyMs : Math.min(RETRY_MS, everyMs));
  }

  const kept = keepLooking();
  return {
    async close() {
      closing = true;
      wakeup.wake();
      await kept;
    },
  };
}

/**
 * Restores from the log what a damaged part held. ClickHouse detaches a part at its start when the part's
 * files are not what was written, and serves queries without it from then on. A full disk does that to a part
 * whose insert succeeded. Detached parts stay where they are, and each start repairs them once: hours that
 * the start sends again are left to this audit (infra/clickhouse/repair-block.ts).
 */
async function requestRepair(
  pool: Pool,
  warehouse: Warehouse,
  { log, start }: { log: Logger; start: string },
): Promise<void> {
  const parts = await warehouse.query<BrokenPart>({
    sql: `SELECT table, name FROM system.detached_parts
          WHERE database = 'metergate' AND reason LIKE 'broken%' ORDER BY table, name
          LIMIT {partsMax:UInt32}`,
    params: { partsMax: PARTS_MAX },
    // An audit uses the connection of the load for minutes; a query that waited for it would time out.
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  if (parts.length === 0) return;
  if (!(await requestAuditRun(pool, { id: idOf(start, parts), repair: true }))) return;
  log.error(
    { parts: parts.map(({ table, name }) => `${table} ${name}`) },
    'ClickHouse detached damaged parts',
  );
}

/** The same parts give the same run of a start. */
function idOf(start: string, parts: BrokenPart[]): string {
  const text = JSON.stringify([start, ...parts.map(({ table, name }) => [table, name])]);
  const digest = createHash('sha256').update(text);
  return digest.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
