import type pg from 'pg';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { type Aggregation, RESERVED_METER_KEY, USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { Meter } from '../registry-entries.ts';

/**
 * Meters by key or id, keyed by the requested name. A key without a meter becomes an automatic `sum` meter,
 * at most 1,000 per environment, unless the workspace has strict meters. Throws Transient.
 */
export async function findOrMakeMeters(
  pool: pg.Pool,
  environment: string,
  names: string[],
): Promise<Map<string, Meter>> {
  const found = await selectMeters(pool, environment, names).catch(throwTransient);
  const unknown = names.filter((name) => !found.has(name) && !RESERVED.test(name)).sort();
  if (unknown.length === 0) return found;
  await inTransaction(pool, (client) => insertAutomaticMeters(client, environment, unknown)).catch(
    throwTransient,
  );
  for (const [name, meter] of await selectMeters(pool, environment, unknown).catch(throwTransient)) {
    found.set(name, meter);
  }
  return found;
}

const RESERVED = new RegExp(`^(${RESERVED_METER_KEY})`);

interface MeterRow {
  id: string;
  key: string;
  aggregation: Aggregation;
  property: string | null;
  status: string;
}

async function selectMeters(
  pool: pg.Pool,
  environment: string,
  names: string[],
): Promise<Map<string, Meter>> {
  const { rows } = await pool.query<MeterRow>(
    `SELECT id, key, aggregation, property, status FROM meters
      WHERE environment = $1 AND (key = ANY ($2) OR id = ANY ($2))`,
    [environment, names],
  );
  const requested = new Set(names);
  const found = new Map<string, Meter>();
  for (const { id, key, aggregation, property, status } of rows) {
    const meter = { key, aggregation, property: property ?? undefined, archived: status === 'archived' };
    for (const name of [id, key]) if (requested.has(name)) found.set(name, meter);
  }
  return found;
}

/** Under a lock per environment, so that two rivals cannot both use the last free place. */
async function insertAutomaticMeters(
  client: pg.PoolClient,
  environment: string,
  keys: string[],
): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `automatic meters ${environment}`,
  ]);
  await client.query(
    `INSERT INTO meters (id, environment, key, name, aggregation, source)
     SELECT new.id, $1, new.key, new.key, 'sum', 'auto'
       FROM unnest($2::text[], $3::text[]) AS new (id, key)
      WHERE NOT (SELECT w.strict_meters FROM workspaces w JOIN environments e ON e.workspace_id = w.id
                  WHERE e.id = $1)
        AND NOT EXISTS (SELECT FROM meters m WHERE m.environment = $1 AND m.key = new.key)
      ORDER BY new.key
      LIMIT greatest(0, $4 - (SELECT count(*) FROM meters WHERE environment = $1 AND source = 'auto'))
     ON CONFLICT (environment, key) DO NOTHING`,
    [environment, keys.map(() => newId('meter')), keys, USAGE_LIMITS.automaticMetersMax],
  );
}
