import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { REBUILD, rejectOtherWarehouse } from '../domain/reject-other-warehouse.ts';
import { adoptWarehouse, readKnownStamp, recordStamp } from '../domain/store/warehouse-stamps.ts';
import { inTime } from '../infra/platform/circuit-breaker.ts';
import { createWakeup } from '../infra/platform/wakeup.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import type { WarehouseStamps } from '../infra/ports/warehouse-stamps.ts';
import { throwTransient } from '../infra/postgres/unavailable.ts';
import { Fatal } from '../schemas/failures.ts';
import { countStored } from './store/acknowledged-events.ts';

/** Whether the warehouse is the one that the database has counted in. */
export interface KnownWarehouse {
  /**
   * Before anything is made in it: by its stamps, and where it has no event at all though events were
   * counted. Throws Fatal and Transient.
   */
  rejectOther(): Promise<void>;
  /** It is the one from now on, as far as it has been counted. */
  stamp(): Promise<void>;
}

export interface KnownWarehouseDeps {
  pool: Pool;
  warehouse: Pick<Warehouse, 'query'>;
  stamps: WarehouseStamps;
  /** Hex. */
  logId: string;
  /** Without them there may be none left. */
  keepsEvents: boolean;
}

const TIMEOUT_MS = 10_000;

export function createKnownWarehouse(deps: KnownWarehouseDeps): KnownWarehouse {
  const { pool, stamps, logId } = deps;

  async function rejectEmpty(): Promise<void> {
    if (!deps.keepsEvents || (await hasEvents(deps))) return;
    const { counted, onLog } = await countStored(pool, logId).catch(throwTransient);
    if (counted === 0) return;
    const lost = counted - onLog;
    const left = lost === 0 ? 'all of them' : `all but ${lost} of them, which would be lost`;
    throw new Fatal(
      'warehouse_missing',
      `${stamps.place} is empty, and the database has counted ${counted} events: mount it or restore it ` +
        `from the backup of DATA_DIR, ${REBUILD}: ${left}.`,
    );
  }

  return {
    async rejectOther() {
      await rejectOtherWarehouse(pool, stamps);
      await rejectEmpty();
    },
    async stamp() {
      await adoptWarehouse(pool, randomUUID()).catch(throwTransient);
      const known = await readKnownStamp(pool).catch(throwTransient);
      if (!known) return;
      const next = { ...known, stamp: known.stamp + 1 };
      await stamps.write(next);
      await recordStamp(pool, next).catch(throwTransient);
    },
  };
}

/** Also true while damaged parts are detached: the aggregator repairs them from the log by itself. */
async function hasEvents({ warehouse }: KnownWarehouseDeps): Promise<boolean> {
  const [row] = await warehouse.query<{ rows: string | null; parts: string }>({
    sql: `SELECT toString((SELECT max(total_rows) FROM system.tables
                           WHERE database = 'metergate'
                             AND name IN ('events', 'change_events', 'voided_events'))) AS rows,
            toString((SELECT count() FROM system.detached_parts
                      WHERE database = 'metergate' AND table = 'events' AND reason LIKE 'broken%')) AS parts`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return Number(row?.rows ?? 0) > 0 || row?.parts !== '0';
}

const STAMP_EVERY_MS = 60_000;

/** What a stop has for it: a database that hangs must not hold the stop up. */
const LAST_STAMP_MS = 2_000;

/**
 * Stamps it while more is loaded, and at an orderly stop: a copy that was taken while it ran is older by
 * that. Not seen is one that is put back after a kill, and was taken since the stamp before it.
 */
export function keepStamping(
  { stamp, position, log }: Pick<KnownWarehouse, 'stamp'> & { position: () => Promise<string>; log: Logger },
  everyMs = STAMP_EVERY_MS,
  lastStampMs = LAST_STAMP_MS,
): { drain(): Promise<void>; close(): Promise<void> } {
  const wakeup = createWakeup();
  let isClosing = false;
  let stamped: string | undefined;

  async function stampOnce(): Promise<void> {
    const now = await position();
    if (now !== stamped) await stamp();
    stamped = now;
  }

  async function keep(): Promise<void> {
    while (!isClosing) {
      await wakeup.wait(everyMs);
      if (!isClosing) await stampOnce().catch((err: unknown) => log.debug({ err }, 'no stamp could be set'));
    }
  }

  const kept = keep();
  return {
    async drain() {
      isClosing = true;
      wakeup.wake();
      await inTime(kept, lastStampMs);
    },
    /** When nothing is loaded any more. Throws Transient where it takes too long. */
    close: () => inTime(stampOnce(), lastStampMs),
  };
}
