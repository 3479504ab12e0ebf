import type { PoolClient } from 'pg';
import type { Database } from '../http/request-context.ts';

/**
 * Makes a transaction that has run no statement yet read-only, with one snapshot as of its first statement.
 */
export async function readOneTime(client: PoolClient, statementMs: number): Promise<void> {
  await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await limitStatements(client, statementMs);
}

/** Limits every statement of the rest of the transaction: SQLSTATE 57014. */
export async function limitStatements(db: Database, statementMs: number): Promise<void> {
  await db.query(`SELECT set_config('statement_timeout', $1, true)`, [String(statementMs)]);
}
