import type { Pool, PoolClient } from 'pg';

/** What is notified on a channel. */
export interface SentInvalidation {
  channel: string;
  payload: string;
}

/** By the connection of a running transaction: where its invalidations are collected as well. */
const collections = new WeakMap<Pool | PoolClient, SentInvalidation[]>();

/** Notifies, when this transaction commits, in the order given. */
export async function sendInvalidations(
  db: Pool | PoolClient,
  invalidations: readonly SentInvalidation[],
): Promise<void> {
  collections.get(db)?.push(...invalidations);
  const columns = [invalidations.map(({ channel }) => channel), invalidations.map(({ payload }) => payload)];
  await db.query(
    'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS sent (channel, payload)',
    columns,
  );
}

/**
 * Collects the invalidations that this transaction sends while `work` runs. So the process that made the
 * change can apply them itself as soon as it has committed, however long the notification by Postgres takes.
 */
export async function collectInvalidations<T>(
  db: PoolClient,
  collected: SentInvalidation[],
  work: () => Promise<T>,
): Promise<T> {
  collections.set(db, collected);
  try {
    return await work();
  } finally {
    collections.delete(db);
  }
}
