import type { Mutant } from './mutant.ts';

const KEPT_TEST = 'infra/valkey/kept-keys.distributed-store.test.ts';

/** What a claim is worth when a store changed hands, or when its event came to nobody knows what. */
export const CLAIM_MUTANTS: readonly Mutant[] = [
  {
    name: 'lost-leader-believed',
    promises: [1, 2],
    why: 'a broker that wrote a record and then lost the partition is taken for one that wrote nothing',
    module: 'infra/kafka/kafka-errors',
    find: "...['NOT_ENOUGH_REPLICAS',",
    replace: "...['NOT_LEADER_FOR_PARTITION', 'NOT_ENOUGH_REPLICAS',",
    provedBy: [
      {
        test: 'infra/kafka/broken-connections.distributed-store.test.ts',
        title: 'what a broker wrote that then has no leader it knows of may be written',
      },
    ],
  },
  {
    name: 'forgotten-claim-believed',
    promises: [1],
    why: 'a claim that came to nothing is durable once its lease is forgotten: acknowledged, and lost',
    module: 'infra/valkey/key-scripts',
    find: 'same and (lease or isForgotten(known))',
    replace: 'same and lease',
    provedBy: [
      {
        test: KEPT_TEST,
        title: 'a key older than keys are kept is a new event, flagged, whatever became of its claim',
      },
    ],
  },
  {
    name: 'lease-written-last',
    promises: [1],
    why: 'a claim that fails midway leaves keys without a lease: durable to a retry, and on no log',
    module: 'infra/valkey/key-scripts',
    find: "local isNewLease = call('SET', leaseKey, leaseEnd, 'PX', 2 * keepMs, 'NX')",
    replace: 'local isNewLease = false',
    provedBy: [{ test: KEPT_TEST, title: 'a claim that fails midway leaves nothing that counts as durable' }],
  },
  {
    name: 'keys-kept-for-the-window-alone',
    promises: [2],
    why: 'a replay of an event that lay ahead comes when its key is gone and it is not yet looked up',
    module: 'infra/valkey/valkey-keys',
    find: 'windowMs + aheadMs + CLOCKS_APART_MS',
    replace: 'windowMs + CLOCKS_APART_MS',
    provedBy: [
      {
        test: KEPT_TEST,
        title: 'a key is kept for as long as its event may lie ahead, and for the window behind that',
      },
    ],
  },
  {
    name: 'possible-event-judged-again',
    promises: [2],
    why: 'a stored event is rejected, since its customer was archived before its client got the response',
    module: 'infra/valkey/key-scripts',
    find: 'elseif looksOnly and isForgotten(known) then',
    replace: 'elseif looksOnly and lease then',
    provedBy: [
      {
        test: 'ingest/distributed/claims.distributed-store.test.ts',
        title: 'what may be written is taken over though its customer was archived, and nothing new is',
      },
    ],
  },
  {
    name: 'batch-waited-for-once',
    promises: [8],
    why: 'after one partition has timed out the next waits for the lost response of a third, without a limit',
    module: 'ingest/distributed/produce-batcher',
    find: 'timer = undefined;',
    replace: '',
    provedBy: [
      {
        test: 'ingest/distributed/produce-batcher.test.ts',
        title: 'each has a limit of its own for a round that does not come',
      },
    ],
  },
  {
    name: 'letters-sent-as-one',
    promises: [4],
    why: 'records of others that are more than a batch may be stop their partition permanently',
    module: 'infra/kafka/dead-letters',
    find: 'if (bytes + size > PIECE_BYTES_MAX) {',
    replace: 'if (pieces.length === 0) {',
    provedBy: [
      {
        test: 'aggregator/load/letters.distributed-store.test.ts',
        title: 'foreign records that fill a block are set aside in pieces, and the load continues',
      },
    ],
  },
  {
    name: 'replica-used-on',
    promises: [8],
    why: 'after a fail-over that kept the connections nothing is taken until the process is started again',
    module: 'infra/valkey/valkey-client',
    find: 'reconnectOnError: ({ message }) => NO_PRIMARY.test(message),',
    replace: '',
    provedBy: [
      {
        test: 'infra/valkey/fail-over.distributed-store.test.ts',
        title: 'a primary that became a replica is left for the new one, whatever its response',
      },
    ],
  },
];
