import type { Pool, PoolClient } from 'pg';

/** What is notified on a channel. */
export interface Note {
  channel: string;
  payload: string;
}

/** By the connection of a running transaction: where its invalidations are collected as well. */
const collections = new WeakMap<Pool | PoolClient, Note[]>();

/** Notifies, when this transaction commits, in the order given. */
export async function sendNotes(db: Pool | PoolClient, notes: readonly Note[]): Promise<void> {
  collections.get(db)?.push(...notes);
  const columns = [notes.map(({ channel }) => channel), notes.map(({ payload }) => payload)];
  await db.query(
    'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS note (channel, payload)',
    columns,
  );
}

/**
 * Collects the invalidations that this transaction sends while `work` runs. So the process that made the
 * change can apply them itself as soon as it has committed, however long the notification by Postgres takes.
 */
export async function gatherNotes<T>(db: PoolClient, gathered: Note[], work: () => Promise<T>): Promise<T> {
  collections.set(db, gathered);
  try {
    return await work();
  } finally {
    collections.delete(db);
  }
}
