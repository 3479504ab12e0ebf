import { notifyChange } from '../../domain/store/notify-change.ts';
import type { RequestContext } from '../http/request-context.ts';
import { lockCatalogue } from '../store/change-locks.ts';
import { raiseCatalogueVersion } from '../store/entitlement-versions.ts';
import { type Change, recordChange } from './record-change.ts';

/**
 * Changes of one environment's plans, features and add-ons are serialized: they are rare, and each may then
 * read what it depends on before it writes. Readers and subscriptions do not wait for this lock.
 */
export async function beginCatalogueChange({ db, environment }: RequestContext): Promise<void> {
  await lockCatalogue(db, environment);
}

/** Records it, and notifies every cache of the catalogue. */
export async function recordCatalogueChange(context: RequestContext, change: Change): Promise<void> {
  const { db, environment } = context;
  await recordChange(context, change);
  await raiseCatalogueVersion(db, environment);
  await notifyChange(db, { kind: 'catalogue', environment, id: change.objectId });
}
