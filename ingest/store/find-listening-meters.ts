import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { ListeningMeter } from '../events/listener.ts';

interface Row {
  key: string;
  aggregation: Aggregation;
  property: string | null;
  eventSource: EventSource;
}

/** The active meters of an environment that count events of other formats, by key. Throws Transient. */
export async function findListeningMeters(pool: pg.Pool, environment: string): Promise<ListeningMeter[]> {
  const { rows } = await pool
    .query<Row>(
      `SELECT key, aggregation, property, event_source AS "eventSource" FROM meters
        WHERE environment = $1 AND event_source IS NOT NULL AND status = 'active'
        ORDER BY key`,
      [environment],
    )
    .catch(throwTransient);
  return rows.map((row) => ({ ...row, property: row.property ?? undefined }));
}
