import { poll } from '../../infra/platform/poll.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';

const PATIENCE = { timeoutMs: 5_000, everyMs: 50 };
const TIMEOUT_MS = 5_000;
const ROLLUPS = ['usage_hourly', 'usage_by_property', 'change_hourly', 'change_by_property'];
const WRITTEN = ['events', 'change_events', 'voided_events', ...ROLLUPS];

/**
 * Waits for abandoned inserts. An insert that took too long continues in the server after its client has
 * left, and its events may be stored while its hours are not. So does a rewrite of hours whose process lost
 * the insert lock. The caller holds the insert lock exclusively, or all partitions: so every running insert
 * is abandoned. Throws Transient `inserts_running`.
 */
export async function untilNoInsertRuns(
  warehouse: Pick<Warehouse, 'query'>,
  patience = PATIENCE,
): Promise<void> {
  const isOver = await poll(async () => ((await countRunning(warehouse)) === 0 ? true : undefined), patience);
  if (isOver) return;
  throw new Transient('inserts_running', 'ClickHouse still runs an insert that was given up.');
}

async function countRunning(warehouse: Pick<Warehouse, 'query'>): Promise<number> {
  const [row] = await warehouse.query<{ running: string }>({
    sql: `SELECT toString(
            (SELECT count() FROM system.processes
             WHERE match(query,
               '^(?i)\\\\s*(INSERT INTO|ALTER TABLE) metergate.(${WRITTEN.join('|')}) '))
            + (SELECT count() FROM system.mutations
               WHERE database = 'metergate' AND NOT is_done
                 AND table IN (${ROLLUPS.map((table) => `'${table}'`).join(', ')})
                 AND command ILIKE '%DELETE WHERE%')) AS running`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return Number(row?.running ?? 0);
}
