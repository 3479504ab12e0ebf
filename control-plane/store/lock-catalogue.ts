import type { Database } from '../http/request-context.ts';

/** Until the transaction ends nobody else holds it. */
export async function lockCatalogue(db: Database, environment: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalogue ${environment}`]);
}
