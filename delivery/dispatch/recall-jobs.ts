import { findChanged } from '../store/endpoints.ts';
import { release, type Taking } from './take-jobs.ts';

/**
 * Gives back the waiting jobs of an endpoint that was changed since they were taken, so that they are taken
 * again for the endpoint as it is now, or held. Otherwise a user who deletes, disables or redirects an
 * endpoint would see earlier jobs sent for another 15 s. True when anything was given back.
 */
export async function recallJobs(taking: Taking): Promise<boolean> {
  const { pool, queues } = taking;
  const seen = [...queues.next()].map(([id, { target }]) => ({ id, updatedAt: target.updatedAt }));
  if (seen.length === 0) return false;
  const changed = await findChanged(pool, seen);
  await release(
    taking,
    changed.flatMap((id) => queues.clear(id)),
  );
  return changed.length > 0;
}
