import type { Pool, PoolClient } from 'pg';

/** What is notified on a channel. */
export interface Note {
  channel: string;
  payload: string;
}

/** Of transactions under way: where their notes are gathered as well. */
const gatherings = new WeakMap<Pool | PoolClient, Note[]>();

/** Notifies, when this transaction commits, in the order given. */
export async function sendNotes(db: Pool | PoolClient, notes: readonly Note[]): Promise<void> {
  gatherings.get(db)?.push(...notes);
  const columns = [notes.map(({ channel }) => channel), notes.map(({ payload }) => payload)];
  await db.query(
    'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS note (channel, payload)',
    columns,
  );
}

/**
 * Gathers what this transaction notifies while `work` runs. Whoever made a change can hear its notes by
 * itself the moment it has committed, however long the way through Postgres takes.
 */
export async function gatherNotes<T>(db: PoolClient, gathered: Note[], work: () => Promise<T>): Promise<T> {
  gatherings.set(db, gathered);
  try {
    return await work();
  } finally {
    gatherings.delete(db);
  }
}
