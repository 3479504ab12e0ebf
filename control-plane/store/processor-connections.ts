import type { Database } from '../http/request-context.ts';

/** Keys are sealed. */
export interface ProcessorConnectionRow {
  apiKey: Buffer | null;
  apiKeyLast4: string | null;
  webhookSecret: Buffer | null;
}

const COLUMNS = 'api_key AS "apiKey", api_key_last4 AS "apiKeyLast4", webhook_secret AS "webhookSecret"';

export async function findConnection(
  db: Database,
  environment: string,
): Promise<ProcessorConnectionRow | undefined> {
  const { rows } = await db.query<ProcessorConnectionRow>(
    `SELECT ${COLUMNS} FROM processor_connections WHERE environment = $1`,
    [environment],
  );
  return rows[0];
}

/** The row of this environment, inserted if missing and locked against changes in this transaction. */
export async function lockConnection(
  db: Database,
  environment: string,
  now: Date,
): Promise<ProcessorConnectionRow | undefined> {
  const { rows } = await db.query<ProcessorConnectionRow>(
    `INSERT INTO processor_connections (environment, updated_at) VALUES ($1, $2)
     ON CONFLICT (environment) DO UPDATE SET environment = excluded.environment
     RETURNING ${COLUMNS}`,
    [environment, now],
  );
  return rows[0];
}

export async function updateConnection(
  db: Database,
  environment: string,
  row: ProcessorConnectionRow & { updatedAt: Date },
): Promise<void> {
  await db.query(
    `UPDATE processor_connections SET api_key = $2, api_key_last4 = $3, webhook_secret = $4, updated_at = $5
      WHERE environment = $1`,
    [environment, row.apiKey, row.apiKeyLast4, row.webhookSecret, row.updatedAt],
  );
}
