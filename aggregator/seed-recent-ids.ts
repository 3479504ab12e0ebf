import type { Pool } from 'pg';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { fromBase32 } from '../schemas/ids.ts';
import { PARTITION_WORD, partitionOf } from '../schemas/rules/partition-of.ts';
import { createRecentIds, type RecentIds } from './recent-ids.ts';
import type { Place } from './store/leases.ts';
import { momentBefore } from './store/ranges.ts';

export interface SeedOptions {
  /** Ids that are kept per generation. */
  generationMax: number;
  /** About how many of the latest stored events are looked up. */
  seedMax: number;
}

const TIMEOUT_MS = 20_000;
const ID_PREFIX = 'use_';

/**
 * What the warehouse stored last, so that a new owner of the partition knows what the one before had seen.
 */
export async function seedRecentIds(
  { pool, warehouse, reader }: { pool: Pool; warehouse: Warehouse; reader: EventLogReader },
  place: Place,
  { generationMax, seedMax }: SeedOptions,
): Promise<RecentIds> {
  const recentIds = createRecentIds(generationMax);
  const rows = await warehouse.query<{ id: string }>({
    sql: `SELECT id FROM metergate.events WHERE created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
          LIMIT {most:UInt64}`,
    params: {
      since: await momentBefore(pool, place, seedMax),
      // Those of the other partitions are among them.
      most: 2 * seedMax * reader.partitions,
    },
    lane: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  for (const { id } of rows) {
    const bytes = fromBase32(id.slice(ID_PREFIX.length));
    if (bytes && isOf(bytes, place.partition, reader.partitions)) recentIds.remember(bytes);
  }
  return recentIds;
}

function isOf(id: Uint8Array, partition: number, partitions: number): boolean {
  const lastWord = new DataView(id.buffer, id.byteOffset).getUint32(4 * PARTITION_WORD, true);
  return partitionOf(lastWord, partitions) === partition;
}
