import type { Break } from './break.ts';

/** What a claim is worth when a store changed hands, or when its event came to nobody knows what. */
export const CLAIM_BREAKS: readonly Break[] = [
  {
    name: 'lost-leader-believed',
    promises: [1, 2],
    why: 'a broker that wrote a record and then lost the partition is taken for one that wrote nothing',
    module: 'infra/kafka/kafka-errors',
    find: "...['NOT_ENOUGH_REPLICAS',",
    replace: "...['NOT_LEADER_FOR_PARTITION', 'NOT_ENOUGH_REPLICAS',",
    provedBy: [
      {
        test: 'infra/kafka/broken-connections.store.test.ts',
        title: 'what a broker wrote that then has no leader it knows of may be written',
      },
    ],
  },
];
