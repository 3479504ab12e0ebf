/** Corrections of many events, which the job works on (control-plane/corrections). */
import type { Pool, PoolClient } from 'pg';
import type { LedgerVoid, SelectionPosition } from './usage-corrections.ts';

export async function countOpenSelections(db: PoolClient, environment: string): Promise<number> {
  const { rows } = await db.query<{ open: number }>(
    `SELECT count(*) AS open FROM usage_changes
      WHERE environment = $1 AND kind = 'selection' AND state = 'open'`,
    [environment],
  );
  return rows[0]?.open ?? 0;
}

/** All up to here is in the ledger. */
export async function moveSelection(
  db: PoolClient,
  number: number,
  position: SelectionPosition,
): Promise<void> {
  await db.query('UPDATE usage_changes SET position = $2 WHERE number = $1', [
    number,
    JSON.stringify(position),
  ]);
}

/** Whose records a crash may have left out. */
export async function findUnwrittenVoids(
  db: Pool | PoolClient,
  change: number,
  limit: number,
): Promise<LedgerVoid[]> {
  const { rows } = await db.query<LedgerVoid>(
    `SELECT event_id AS id, customer_id AS "customerId", meter_key AS "meterKey", of_change AS change,
            (extract(epoch FROM occurred_at) * 1000)::bigint AS "occurredAtMs"
       FROM usage_voids WHERE change = $1 AND NOT written ORDER BY event_id LIMIT $2`,
    [change, limit],
  );
  return rows;
}

/** Takes nothing away after all: of events that are not there any more. */
export async function forgetVoids(
  db: Pool | PoolClient,
  change: number,
  eventIds: readonly string[],
): Promise<void> {
  await db.query(
    `WITH forgotten AS (
       DELETE FROM usage_voids WHERE change = $1 AND event_id = ANY ($2) AND NOT written RETURNING event_id
     )
     UPDATE usage_changes SET voided = voided - (SELECT count(*) FROM forgotten) WHERE number = $1`,
    [change, eventIds],
  );
}
