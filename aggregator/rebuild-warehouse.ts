import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { createLoggedBatches } from './audit/logged-batches.ts';
import { loggedEvents } from './audit/logged-events.ts';
import type { LogSpan } from './audit/logged-frames.ts';
import type { Place } from './store/leases.ts';
import { readLogTrim } from './store/log-trims.ts';
import { endOfRanges, rangesWithDrops } from './store/ranges.ts';

export interface RebuildDeps {
  pool: Pool;
  warehouse: Warehouse;
  reader: EventLogReader;
  log: Logger;
}

const LINES_MAX = 20_000;
const INSERT_TIMEOUT_MS = 60_000;

/**
 * Inserts all loaded events that are still on the log into the warehouse, while no process loads. Stored rows
 * stay, and hours are computed from their events. It may be cut off and repeated. Events that the log has
 * deleted are not restored. `mayWrite`: of the pause.
 */
export async function rebuildWarehouse(
  { pool, warehouse, reader, log }: RebuildDeps,
  mayWrite?: () => Promise<void>,
): Promise<void> {
  const logId = Buffer.from(reader.logId).toString('hex');
  const batches = createLoggedBatches(LINES_MAX);
  let events = 0;

  async function insert(): Promise<void> {
    for (const { events: count, ...batch } of batches.take()) {
      events += count;
      // Like a range that was cut off: the stored rows show which of it exists already.
      const block = { token: `rebuild-${randomUUID()}`, ...batch };
      const sentAgain = { wasSent: true, ...(mayWrite ? { mayWrite } : {}) };
      await warehouse.insertEvents({ ...block, ...sentAgain, timeoutMs: INSERT_TIMEOUT_MS });
    }
  }

  for (let partition = 0; partition < reader.partitions; partition++) {
    const span = await keptSpan({ pool, reader }, { logId, partition });
    for await (const found of loggedEvents(reader, span)) {
      for (const event of found) {
        batches.add(event);
        if (batches.isFull()) await insert();
      }
    }
    await insert();
    log.info({ partition, events }, 'the warehouse has what the log holds of this partition');
  }
}

/** Starts at the first frame whose range states which of its lines are left out. */
async function keptSpan(
  { pool, reader }: Pick<RebuildDeps, 'pool' | 'reader'>,
  place: Place,
): Promise<LogSpan> {
  const { partition } = place;
  const { keptFrom } = await readLogTrim(pool, place);
  const start = Math.max(keptFrom, await reader.start(partition));
  const drops = await rangesWithDrops(pool, place, start);
  const [first] = drops;
  const from = first && first.lo < start ? first.hi : start;
  const to = await endOfRanges(pool, place);
  return { partition, from: Math.min(from, to), to, sinceMs: 0, drops };
}
