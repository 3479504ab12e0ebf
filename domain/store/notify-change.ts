import type { Pool, PoolClient } from 'pg';
import {
  CHANNELS,
  type CreditsInvalidation,
  type Invalidation,
  NOTIFIED_CUSTOMERS_MAX,
} from '../../schemas/stored/channels.ts';
import { type SentInvalidation, sendInvalidations } from './send-invalidations.ts';

/** Notifies every cache, when this transaction commits, that a row it may have has changed. */
export async function notifyChange(db: Pool | PoolClient, change: Invalidation): Promise<void> {
  await notifyChanges(db, [change]);
}

/** The same of several rows. */
export async function notifyChanges(db: Pool | PoolClient, changes: readonly Invalidation[]): Promise<void> {
  await sendInvalidations(
    db,
    changes.map((change) => ({ channel: CHANNELS.changes, payload: JSON.stringify(change) })),
  );
}

/**
 * Notifies every cache of customers whose credits this transaction moved; many customers per notification.
 */
export async function notifyCredits(db: Pool | PoolClient, customerIds: readonly string[]): Promise<void> {
  const invalidations: SentInvalidation[] = [];
  for (let at = 0; at < customerIds.length; at += NOTIFIED_CUSTOMERS_MAX) {
    const moved: CreditsInvalidation = { customerIds: customerIds.slice(at, at + NOTIFIED_CUSTOMERS_MAX) };
    invalidations.push({ channel: CHANNELS.credits, payload: JSON.stringify(moved) });
  }
  await sendInvalidations(db, invalidations);
}
