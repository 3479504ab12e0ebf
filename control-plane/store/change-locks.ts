import type { Database } from '../http/request-context.ts';

/**
 * A shared lock until the end of the transaction: it excludes the exclusive lock below, not other shared
 * ones.
 */
export async function shareEntitlements(db: Database, environment: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [keyOf(environment)]);
}

/** Waits for the transactions with a shared lock, and excludes others until this one ends. */
export async function lockEntitlements(db: Database, environment: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [keyOf(environment)]);
}

function keyOf(environment: string): string {
  return `entitlements ${environment}`;
}

/** Excludes other changes of the catalogue until the end of the transaction. */
export async function lockCatalogue(db: Database, environment: string): Promise<void> {
  await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalogue ${environment}`]);
}
