import type { Pool } from 'pg';
import type { WarehouseStamp, WarehouseStamps } from '../infra/ports/warehouse-stamps.ts';

import { throwTransient } from '../infra/postgres/unavailable.ts';
import { Fatal } from '../schemas/failures.ts';
import { readKnownStamp } from './store/warehouse-stamps.ts';

/**
 * Throws Fatal (exit 4) where the warehouse is not the one that this database has counted in:
 * `warehouse_missing` for one without stamps, `warehouse_older` for one put back from a backup,
 * `warehouse_foreign` for that of another installation, `database_older` where the database was put back.
 * Counters would be wrong without a word. A stamp is written in the warehouse first: it may be one ahead.
 * Throws Transient.
 */
export async function rejectOtherWarehouse(pool: Pool, stamps: WarehouseStamps): Promise<void> {
  const known = await readKnownStamp(pool).catch(throwTransient);
  const found = await stamps.read();
  const own = found.find(({ id }) => id === known?.id);
  const code = faultOf(known, own, found.length > 0);
  if (code === undefined) return;
  const numbers = known && own ? ` (it is at stamp ${own.stamp}, the database at ${known.stamp})` : '';
  throw new Fatal(code, `${stamps.place} ${WORDS[code]}`.replace('{numbers}', numbers));
}

type Stamp = WarehouseStamp | undefined;

function faultOf(known: Stamp, own: Stamp, isStamped: boolean) {
  if (!own) {
    if (isStamped) return 'warehouse_foreign';
    // Adopted, and never stamped: a first start was cut off.
    return known && known.stamp > 0 ? 'warehouse_missing' : undefined;
  }
  if (known && own.stamp < known.stamp) return 'warehouse_older';
  return known && own.stamp > known.stamp + 1 ? 'database_older' : undefined;
}

export const REBUILD =
  'or start once with WAREHOUSE_REBUILD=true, which counts again what the log still holds';

const WORDS = {
  warehouse_missing:
    'does not hold what this installation has counted: mount it or restore it from the backup of DATA_DIR, ' +
    `${REBUILD}.`,
  warehouse_older:
    'is older than the database{numbers}, and events that were counted are missing in it: restore the ' +
    `newest one, ${REBUILD}.`,
  warehouse_foreign:
    'belongs to another installation: put back the one of this database. Its rows and ours would be mixed.',
  database_older:
    'is newer than the database{numbers}, and what it holds would be counted twice: restore the newest ' +
    'database, or move the warehouse away and start once with WAREHOUSE_REBUILD=true.',
} as const;
