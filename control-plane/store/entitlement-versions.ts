/** Versions by which a cache of entitlements is checked, in case a notification was lost. */
import type { Database } from '../http/request-context.ts';

/** Once for each change of the catalogue, or of the workspace's settings. */
export async function raiseCatalogueVersion(db: Database, environment: string): Promise<void> {
  await db.query(
    `INSERT INTO catalogue_versions AS was (environment, version) VALUES ($1, 1)
     ON CONFLICT (environment) DO UPDATE SET version = was.version + 1`,
    [environment],
  );
}

/** 0 before the first change. */
export async function readCatalogueVersion(db: Database, environment: string): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    'SELECT version FROM catalogue_versions WHERE environment = $1',
    [environment],
  );
  return rows[0]?.version ?? 0;
}
