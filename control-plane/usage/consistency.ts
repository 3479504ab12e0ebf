import { Rejected } from '../../schemas/failures.ts';
import type { Consistency } from '../../schemas/resources/usage.ts';
import type { Freshness } from './freshness.ts';

/** How long a read waits for what was acknowledged before it. Source: the contract, §3. */
const WAIT_MS = { usual: 1_000, strong: 5_000 };

/**
 * Waits as the reader wishes; then the moment up to which everything is counted, in milliseconds since
 * 1970.
 */
export async function awaitConsistency(freshness: Freshness, consistency: Consistency): Promise<number> {
  const end = await freshness.arrive();
  if (consistency === 'eventual') return freshness.asOfMs();
  const isStrong = consistency === 'strong';
  const isReached = await freshness.reached(end, isStrong ? WAIT_MS.strong : WAIT_MS.usual);
  if (isStrong && !isReached) {
    const message = 'Not everything acknowledged before this request is counted yet. Ask again in a moment.';
    throw new Rejected('unavailable', message);
  }
  return freshness.asOfMs();
}
