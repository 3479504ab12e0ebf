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
    throw notNow('Not everything acknowledged before this request is counted yet.');
  }
  if (isStrong && (await time.within(freshness.isRepairOpen()))) {
    throw notNow('What is counted is being repaired.');
  }
  return freshness.asOfMs();
}

function notNow(why: string): Rejected {
  return new Rejected('unavailable', `${why} Ask again in a moment.`);
}
