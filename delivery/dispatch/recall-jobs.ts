import { findChanged } from '../store/endpoints.ts';
import { release, type Taking } from './take-jobs.ts';

/**
 * Gives back what waits for an endpoint that was changed since it was taken, so that it is taken as the
 * endpoint is now, or held: whoever deletes, disables or redirects one would see what was taken before for
 * another 15 s. True when anything was given back.
 */
export async function recallJobs(taking: Taking): Promise<boolean> {
  const { pool, lanes } = taking;
  const seen = [...lanes.next()].map(([id, { target }]) => ({ id, updatedAt: target.updatedAt }));
  if (seen.length === 0) return false;
  const changed = await findChanged(pool, seen);
  await release(
    taking,
    changed.flatMap((id) => lanes.clear(id)),
  );
  return changed.length > 0;
}
