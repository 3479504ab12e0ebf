import type { Database } from '../http/request-context.ts';

/** An exclusive lock until the end of the transaction. */
export async function lockCatalogue(db: Database, environment: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalogue ${environment}`]);
}
