import type { Mutant } from './mutant.ts';

const FORGOTTEN_TEST = 'aggregator/load/forgotten.distributed-store.test.ts';

/** What several aggregators share: the filter that one leaves to the next, and the gate of their inserts. */
export const DISTRIBUTED_LOAD_MUTANTS: readonly Mutant[] = [
  {
    name: 'forgotten-not-looked-up',
    promises: [2, 4],
    why: 'an event that hung in a connection until its takeover was forgotten is counted a second time',
    module: 'aggregator/load/known-ids',
    find: 'mayHaveForgotten(committedAtMs) ? Array(eventCount).keys() : recheck',
    replace: 'recheck',
    provedBy: [
      {
        test: FORGOTTEN_TEST,
        title: 'an original that comes when its take-over is forgotten counts once',
      },
    ],
  },
  {
    name: 'seen-by-others-taken-for-unseen',
    promises: [2, 4],
    why: 'a new owner of a partition counts what the one before had counted by its take-over',
    module: 'aggregator/load/seed-recent-ids',
    find: 'createRecentIds(generationMax, Math.min(forgottenMs, clock.nowMs()))',
    replace: 'createRecentIds(generationMax)',
    provedBy: [{ test: FORGOTTEN_TEST, title: 'an original that comes to a new owner counts once' }],
  },
  {
    name: 'repaired-during-inserts',
    promises: [4, 5],
    why: 'hours that another partition is just adding to are rebuilt, and then added to once more',
    module: 'aggregator/load/insert-lock',
    find: 'alone ? ENTER_ALONE : ENTER',
    replace: 'ENTER',
    provedBy: [
      {
        test: 'aggregator/load/insert-lock.store.test.ts',
        title: 'inserts run concurrently; an exclusive one waits, and later ones wait for it',
      },
    ],
  },
  {
    name: 'gate-held-for-ever',
    promises: [8],
    why: 'a process that pauses in the middle of an insert keeps all others from loading',
    module: 'aggregator/load/insert-lock',
    find: '[logId, String(heldMaxMs)]',
    replace: "[logId, '0']",
    provedBy: [
      {
        test: 'aggregator/load/insert-lock.store.test.ts',
        title: 'an exclusive session that hangs loses the lock, and notices before its next write',
      },
    ],
  },
  {
    name: 'cluster-inserted-concurrently',
    promises: [8],
    why: 'a cluster rejects a concurrent second insert: partitions keep failing each other',
    module: 'aggregator/load/load-range',
    find: 'wasSent || distributed.oneAtATime !== undefined',
    replace: 'wasSent',
    provedBy: [
      {
        test: 'aggregator/load/one-at-a-time.store.test.ts',
        title: 'a warehouse that takes one insert at a time gets no two concurrently',
      },
    ],
  },
  {
    name: 'gate-lost-unnoticed',
    promises: [4, 5],
    why: 'a process that lost its lock while paused rebuilds hours during the inserts of others',
    module: 'infra/clickhouse/warehouse-over',
    find: 'mayWrite ? asking(transport, mayWrite) : transport',
    replace: 'transport',
    provedBy: [
      {
        test: 'aggregator/load/one-at-a-time.store.test.ts',
        title: 'a process that has lost the insert lock does not repair a block',
      },
    ],
  },
];
