import { inJobTransaction, type JobTurn } from '../../domain/leased-job.ts';
import { findUncountedAccounts, forgetCounted } from '../store/committed-amounts.ts';
import { type CountedCommitsDeps, createCountedCommits } from './counted-commits.ts';

const CHUNK = 200;

/** Gives back what commits take that every decision has in its counter by now. */
export function createForgetCommits(deps: CountedCommitsDeps) {
  const { pool } = deps;
  const countedCommits = createCountedCommits(deps);

  return async (turn: JobTurn): Promise<void> => {
    const upTo = await countedCommits.look();
    if (upTo === undefined) return;
    for (;;) {
      const epoch = await turn.hold();
      if (epoch === undefined || turn.signal.aborted) return;
      const places = await findUncountedAccounts(pool, { upTo, limit: CHUNK });
      if (places.length === 0) return countedCommits.forgotten(upTo);
      for (const environment of new Set(places.map((place) => place.environment))) {
        const own = places.filter((place) => place.environment === environment);
        const counted = { customerIds: own.map(({ customerId }) => customerId), upTo };
        const inTurn = { pool, job: turn.job, epoch };
        await inJobTransaction(inTurn, (db) => forgetCounted(db, environment, counted));
      }
    }
  };
}
