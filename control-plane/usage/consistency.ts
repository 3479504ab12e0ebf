import { Rejected } from '../../schemas/failures.ts';
import type { Consistency } from '../../schemas/resources/usage.ts';
import type { Freshness } from './freshness.ts';
import { type ReadTime, USUAL_WAIT_MS } from './read-time.ts';

export interface ReadWish {
  consistency?: Consistency | undefined;
  time: ReadTime;
  environment: string;
}

/**
 * Reads what is counted once it is as the reader wishes it. A strong read is refused where hours may have
 * been made anew under it: a look before it alone would miss a repair that begins while it waits its turn.
 */
export async function readConsistently<Response>(
  freshness: Freshness,
  wish: ReadWish,
  read: (asOfMs: number) => Promise<Response>,
): Promise<Response> {
  const { consistency, time } = wish;
  const asOfMs = await awaitConsistency(freshness, wish);
  if (consistency !== 'strong') return read(asOfMs);
  const before = await endedRepairs(freshness, time);
  const response = await read(asOfMs);
  if ((await endedRepairs(freshness, time)) !== before) throw notNow(REPAIRED);
  return response;
}

/**
 * Waits as the reader wishes, a strong one for all the time it has (the contract, §3); then the moment up to
 * which everything is counted, in milliseconds since 1970.
 */
export async function awaitConsistency(
  freshness: Freshness,
  { consistency, time, environment }: ReadWish,
): Promise<number> {
  const end = await time.within(freshness.arrive());
  if (consistency === 'eventual') return freshness.asOfMs();
  const isStrong = consistency === 'strong';
  const isReached = await freshness.reached(end, {
    environment,
    withinMs: isStrong ? time.leftMs() : USUAL_WAIT_MS,
  });
  if (isStrong && !isReached) {
    throw notNow('Not everything acknowledged before this request is counted yet.');
  }
  return freshness.asOfMs();
}

const REPAIRED = 'What is counted is being repaired.';

async function endedRepairs(freshness: Freshness, time: ReadTime): Promise<string | null> {
  const { isOpen, ended } = await time.within(freshness.repairs());
  if (isOpen) throw notNow(REPAIRED);
  return ended;
}

function notNow(why: string): Rejected {
  return new Rejected('unavailable', `${why} Ask again in a moment.`);
}
