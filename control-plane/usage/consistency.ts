import type { UsageView } from '../../domain/store/usage-views.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Consistency } from '../../schemas/resources/consistency.ts';
import type { Freshness } from './freshness.ts';
import { type ReadTime, USUAL_WAIT_MS } from './read-time.ts';

export interface ReadWish {
  consistency?: Consistency | undefined;
  time: ReadTime;
  environment: string;
}

/**
 * Reads the counted usage with the consistency that the reader requested, all of it with one view. A strong
 * read is rejected if a repair may have rewritten hours during it: a check before the read alone would miss a
 * repair that begins while the read waits.
 */
export async function readConsistently<Response>(
  freshness: Freshness,
  wish: ReadWish,
  read: (asOfMs: number, view: UsageView) => Promise<Response>,
): Promise<Response> {
  const { consistency, time, environment } = wish;
  const asOfMs = await awaitConsistency(freshness, wish);
  const { views } = freshness;
  if (consistency !== 'strong') return read(asOfMs, await time.within(views.of(environment)));
  const before = await endedRepairs(freshness, time);
  const response = await read(asOfMs, await views.fresh(environment, time));
  // mutant: repair-under-a-read-missed
  if ((await endedRepairs(freshness, time)) !== before) throw notNow(REPAIRED);
  return response;
}

/**
 * Waits as the reader requested, a strong read for all the time it has (5 s); then returns the
 * time up to which everything is counted, in milliseconds since 1970.
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
    throw notNow('Usage acknowledged before this request is not fully counted yet.');
  }
  return freshness.asOfMs();
}

const REPAIRED = 'Stored usage is being repaired.';

async function endedRepairs(freshness: Freshness, time: ReadTime): Promise<string | null> {
  const { isOpen, ended } = await time.within(freshness.repairs());
  // mutant: strong-read-in-a-repair
  if (isOpen) throw notNow(REPAIRED);
  return ended;
}

function notNow(why: string): Rejected {
  return new Rejected('unavailable', `${why} Retry the request.`);
}
