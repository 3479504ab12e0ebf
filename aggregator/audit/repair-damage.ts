import { createHash, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { askAuditRun } from '../store/audit-runs.ts';

interface BrokenPart {
  table: string;
  name: string;
}

const TIMEOUT_MS = 10_000;
/** Ten days of parts that broke one by one: any number says the same. */
const PARTS_MAX = 1_000;

/** An audit gives up when its stores stay away: then it is asked for again. */
const EVERY_MS = 60_000;
/** Strong reads wait for a first look. */
const RETRY_MS = 1_000;

export interface MendingOptions {
  log: Logger;
  /** What a start has set aside is known, and its repair asked for. */
  onLook?: () => void;
  everyMs?: number;
}

/** Looks now and then for what is to be mended. */
export function keepMending(
  pool: Pool,
  warehouse: Warehouse,
  { log, onLook = () => undefined, everyMs = EVERY_MS }: MendingOptions,
): { close(): Promise<void> } {
  const wakeup = createWakeup();
  const start = randomUUID();
  let closing = false;

  async function hasLooked(): Promise<boolean> {
    try {
      await mendDamage(pool, warehouse, { log, start });
      onLook();
      return true;
    } catch (err) {
      log.warn({ err }, 'damaged parts could not be looked for');
      return false;
    }
  }

  async function keepLooking(): Promise<void> {
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
 * Has what a damaged part held put back from the log. ClickHouse sets a part aside at its start when its
 * files are not what was written, and answers without it from then on. A full disk does that to a part whose
 * insert was answered with success. They stay where they were set aside, and are mended once after each
 * start: what it sends again leaves hours to this audit (make-whole.ts).
 */
async function mendDamage(
  pool: Pool,
  warehouse: Warehouse,
  { log, start }: { log: Logger; start: string },
): Promise<void> {
  const parts = await warehouse.query<BrokenPart>({
    sql: `SELECT table, name FROM system.detached_parts
          WHERE database = 'metergate' AND reason LIKE 'broken%' ORDER BY table, name
          LIMIT {partsMax:UInt32}`,
    params: { partsMax: PARTS_MAX },
    // An audit holds the load's for minutes: who waited there would take it for stuck.
    lane: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  if (parts.length === 0) return;
  if (!(await askAuditRun(pool, { id: idOf(start, parts), repair: true }))) return;
  log.error({ parts: parts.map(({ table, name }) => `${table} ${name}`) }, 'damaged parts were set aside');
}

/** The same parts give the same run of a start. */
function idOf(start: string, parts: BrokenPart[]): string {
  const text = JSON.stringify([start, ...parts.map(({ table, name }) => [table, name])]);
  const digest = createHash('sha256').update(text);
  return digest.digest('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
