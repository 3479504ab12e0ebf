import type { Pool, PoolClient } from 'pg';
import { CHANNELS, type UsageChangesInvalidation } from '../../schemas/stored/channels.ts';
import { sendInvalidations } from './send-invalidations.ts';

export type UsageChangeKind = 'void' | 'amendment' | 'selection' | 'backfill';

export interface NewUsageChange {
  environment: string;
  /** `cor_…` or `bkf_…`. */
  id: string;
  kind: UsageChangeKind;
  /** It takes events away, or will. */
  hasVoids: boolean;
  /** What was asked for: JSON. */
  request: object;
  createdBy: string;
  createdAt: Date;
}

/** A position of a log: all records of a change are before it. */
export interface LogEnd {
  logId: string;
  partition: number;
  end: number;
}

/**
 * Begins a change, and returns its number. Call it within the transaction, which holds the environment's row
 * from here on: the numbers of an environment are committed in their order, so that the newest one that a
 * reader knows of stands for all before it.
 */
export async function insertUsageChange(
  db: PoolClient,
  { environment, id, kind, hasVoids, request, createdBy, createdAt }: NewUsageChange,
): Promise<number> {
  // mutant: change-numbers-in-any-order
  await db.query('SELECT FROM environments WHERE id = $1 FOR NO KEY UPDATE', [environment]);
  const { rows } = await db.query<{ number: number }>(
    `INSERT INTO usage_changes (environment, id, kind, state, has_voids, request, created_by, created_at)
     VALUES ($1, $2, $3, 'open', $4, $5, $6, $7) RETURNING number`,
    [environment, id, kind, hasVoids, JSON.stringify(request), createdBy, createdAt],
  );
  await notifyUsageChanges(db, environment);
  return rows[0]?.number as number;
}

/** All its records are durable on the log before these positions. False unless it was open. */
export async function closeUsageChange(
  db: Pool | PoolClient,
  number: number,
  { endsAt, at }: { endsAt: readonly LogEnd[]; at: Date },
): Promise<boolean> {
  return changeState(
    db,
    `UPDATE usage_changes SET state = 'closing', ends_at = $2, closed_at = $3
      WHERE number = $1 AND state = 'open' RETURNING environment`,
    [number, JSON.stringify(endsAt), at],
  );
}

/** All its rows are stored: from the commit on every reader counts them. False unless it was closing. */
export async function showUsageChange(db: Pool | PoolClient, number: number, at: Date): Promise<boolean> {
  return changeState(
    db,
    `UPDATE usage_changes SET state = 'visible', visible_at = $2
      WHERE number = $1 AND state = 'closing' RETURNING environment`,
    [number, at],
  );
}

/** Its rows count no more, and other changes may void what it voided. False when it was reverted before. */
export async function revertUsageChange(db: PoolClient, number: number, at: Date): Promise<boolean> {
  await db.query('DELETE FROM usage_voids WHERE change = $1', [number]);
  return changeState(
    db,
    `UPDATE usage_changes SET state = 'reverted', reverted_at = $2
      WHERE number = $1 AND state <> 'reverted' RETURNING environment`,
    [number, at],
  );
}

async function changeState(db: Pool | PoolClient, sql: string, values: unknown[]): Promise<boolean> {
  const { rows } = await db.query<{ environment: string }>(sql, values);
  for (const { environment } of rows) await notifyUsageChanges(db, environment);
  return rows.length > 0;
}

/** Notifies every cache of views (usage-views.ts), when this transaction commits. */
async function notifyUsageChanges(db: Pool | PoolClient, environment: string): Promise<void> {
  const payload: UsageChangesInvalidation = { environment };
  await sendInvalidations(db, [{ channel: CHANNELS.usageChanges, payload: JSON.stringify(payload) }]);
}
