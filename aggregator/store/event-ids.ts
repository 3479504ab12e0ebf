import type { Warehouse } from '../../infra/ports/warehouse.ts';

const TIMEOUT_MS = 20_000;
/** Ids of one statement: over HTTP they are in the URL. */
const IDS_MAX = 2_000;

/**
 * A table of the ids alone, where processes share the keys. In `events` an id is found only by its whole sort
 * key, and a claim that is taken over again after keys were lost may carry other times. A view that is added
 * while blocks are pending does no harm: an id that is there twice is the same id. Ids are kept for the
 * longest time ever configured: keys of that age still exist. `everywhere`: the clause that sends the
 * statement to every server of a cluster.
 *
 * The table has no window of tokens (`non_replicated_deduplication_window`) and needs no repair. A range that
 * is sent again under a token that `events` knows is dropped there, but the view still runs: a table without
 * a window takes the ids again, also those whose part a kill lost. With a window it would drop them by the
 * same token, and ids that were lost would stay lost. (On a cluster a window is the default; there one
 * request to Keeper records the token and its part together.)
 */
export async function ensureEventIds(
  warehouse: Pick<Warehouse, 'query'>,
  keptHours: number,
  everywhere: (change: string) => string = (change) => change,
): Promise<void> {
  const query = <Row>(sql: string) =>
    warehouse.query<Row>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  const end = `toDateTime(created_at) + INTERVAL ${keptHours} HOUR`;
  const statements = [
    `CREATE TABLE IF NOT EXISTS metergate.event_ids (id String, created_at DateTime64(3, 'UTC'))
     ENGINE = ReplacingMergeTree PARTITION BY toYYYYMMDD(created_at) ORDER BY id
     TTL ${end}
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ttl_only_drop_parts = 1`,
    `CREATE MATERIALIZED VIEW IF NOT EXISTS metergate.event_ids_view TO metergate.event_ids AS
     SELECT id, created_at FROM metergate.events`,
  ];
  for (const sql of statements) await query(everywhere(sql));
  const [table] = await query<{ engine: string }>(
    `SELECT engine_full AS engine FROM system.tables WHERE database = 'metergate' AND name = 'event_ids'`,
  );
  const [, found] = / TTL .*toIntervalHour\((\d+)\)/.exec(table?.engine ?? '') ?? [];
  if (found === undefined || Number(found) >= keptHours) return;
  // Ids of events that are stored already are marked, not written again.
  await query(
    everywhere('ALTER TABLE metergate.event_ids MODIFY SETTING materialize_ttl_recalculate_only = 1'),
  );
  await query(everywhere(`ALTER TABLE metergate.event_ids MODIFY TTL ${end}`));
}

/** Those of them that are stored, as ordinary usage or as events of a change. */
export async function storedIds(
  warehouse: Pick<Warehouse, 'query'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const stored = new Set<string>();
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    const rows = await warehouse.query<{ id: string }>({
      sql: `SELECT DISTINCT id FROM metergate.event_ids WHERE id IN {ids:Array(String)}
             UNION DISTINCT
            SELECT DISTINCT id FROM metergate.change_events WHERE id IN {ids:Array(String)}`,
      params: { ids: ids.slice(at, at + IDS_MAX) },
      connection: 'load',
      timeoutMs: TIMEOUT_MS,
    });
    for (const { id } of rows) stored.add(id);
  }
  return stored;
}

/** The voids of these events that are stored. */
export async function storedVoidsOf(
  warehouse: Pick<Warehouse, 'query'>,
  ids: readonly string[],
): Promise<Array<{ id: string; change: number }>> {
  const stored: Array<{ id: string; change: number }> = [];
  for (let at = 0; at < ids.length; at += IDS_MAX) {
    const rows = await warehouse.query<{ id: string; change: string }>({
      sql: `SELECT DISTINCT id, toString(change) AS change FROM metergate.voided_events
             WHERE id IN {ids:Array(String)}`,
      params: { ids: ids.slice(at, at + IDS_MAX) },
      connection: 'load',
      timeoutMs: TIMEOUT_MS,
    });
    for (const { id, change } of rows) stored.push({ id, change: Number(change) });
  }
  return stored;
}
