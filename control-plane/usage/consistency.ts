import { Rejected } from '../../schemas/failures.ts';
import type { Consistency } from '../../schemas/resources/usage.ts';
import type { Freshness } from './freshness.ts';
import { beginReadTime, type ReadTime, USUAL_WAIT_MS } from './read-time.ts';

/**
 * Waits as the reader wishes, a strong one for all the time it has (the contract, §3); then the moment up to
 * which everything is counted, in milliseconds since 1970.
 */
export async function awaitConsistency(
  freshness: Freshness,
  consistency: Consistency,
  time: ReadTime = beginReadTime(consistency),
): Promise<number> {
  const end = await time.within(freshness.arrive());
  if (consistency === 'eventual') return freshness.asOfMs();
  const isStrong = consistency === 'strong';
  const isReached = await freshness.reached(end, isStrong ? time.leftMs() : USUAL_WAIT_MS);
  if (isStrong && !isReached) {
    const message = 'Not everything acknowledged before this request is counted yet. Ask again in a moment.';
    throw new Rejected('unavailable', message);
  }
  return freshness.asOfMs();
}
