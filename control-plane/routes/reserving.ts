import type { UsageWriter } from '../../infra/ports/usage-writer.ts';
import { type AccountQueueDeps, createAccountQueue } from '../reservations/account-queue.ts';
import { createWithFacts } from '../reservations/careful-facts.ts';
import { createCommitUsage } from '../reservations/commit-usage.ts';
import type { ReadHoldFacts } from '../reservations/hold-facts.ts';
import { createCommitHandlers } from './commit.ts';
import { createConsumeHandlers } from './consume.ts';
import { createReservationHandlers } from './reservations.ts';

export interface ReservingDeps extends AccountQueueDeps {
  usageWriter: UsageWriter;
  /** Hex, of the log. */
  logId: string;
  readHoldFacts: ReadHoldFacts;
}

/** The operations that hold and use amounts, over one queue of accounts. */
export function createReservingHandlers(deps: ReservingDeps) {
  const accountQueue = createAccountQueue(deps);
  const shared = {
    accountQueue,
    readHoldFacts: deps.readHoldFacts,
    withFacts: createWithFacts(deps),
    commitUsage: createCommitUsage(accountQueue, deps.usageWriter),
  };
  return {
    ...createReservationHandlers(shared),
    ...createCommitHandlers(shared),
    ...createConsumeHandlers(shared),
  };
}
