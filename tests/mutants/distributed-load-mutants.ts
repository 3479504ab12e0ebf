import { mutant } from './mutant-row.ts';

const LOAD = 'aggregator/load/load.distributed-store.test.ts';
const RANGES = 'aggregator/store/ranges.store.test.ts';
const LETTERS = 'aggregator/load/letters.distributed-store.test.ts';
const FORGOTTEN = 'aggregator/load/forgotten.distributed-store.test.ts';
const INSERT_LOCK = 'aggregator/load/insert-lock.store.test.ts';
const ONE_AT_A_TIME = 'aggregator/load/one-at-a-time.whole-store.test.ts';

/** What several aggregators share: partitions, the filter that one leaves to the next, the insert lock. */
export const DISTRIBUTED_LOAD_MUTANTS = [
  mutant('flagged-not-looked-up', [2, 4])
    .why('an event that was written again after an unknown outcome is counted twice')
    .always('aggregator/load/doubtful-ids')
    .red(LOAD, 'a flagged event that is stored is left out, and one that is new is counted'),
  mutant('voids-not-looked-up', [2, 4])
    .why('a void that was written again after an unknown outcome takes its event away twice')
    .drop('aggregator/load/doubtful-ids')
    .red(LOAD, 'a flagged record of a change that is stored is left out, of a void too'),
  mutant('freeze-not-fenced', [4])
    .why('an aggregator that lost its partition freezes a range that its successor freezes too: both count')
    .swap(
      'aggregator/store/ranges#freezeRange',
      'epoch = $3 AND expires_at > now()',
      '$3::bigint IS NOT NULL',
    )
    .red(LOAD, 'a process that has lost its lease freezes nothing any more'),
  mutant('loaded-by-any-epoch', [4])
    .why('an aggregator that lost its partition marks what its follower has not stored yet')
    .swap('aggregator/store/ranges#markLoaded', 'epoch = $4', '$4::bigint IS NOT NULL')
    .red(RANGES, 'can be marked by the new epoch only'),
  mutant('foreign-record-dropped', [4])
    .why('a record that is not ours is gone without a trace')
    .drop('aggregator/load/load-loop')
    .red(LOAD, 'a foreign record becomes a dead letter with the reason, and the partition continues'),
  mutant('trimmed-log-passed-over', [4])
    .why('what Kafka gave up before it was counted is missing in every bill, and nothing reports it')
    .after('infra/kafka/kafka-reader', 'return await fetchFrames(partition, first, bytesMax);')
    .red(LOAD, 'what Kafka gave up before it was loaded is named, and not passed over'),
  mutant('topic-taken-by-its-name', [4])
    .why('a recreated topic is read on in its middle: the records before are never counted')
    .drop('infra/kafka/kafka-reader')
    .red(LOAD, 'a topic that was created again is detected, whatever records it has'),
  mutant('letters-sent-as-one', [4])
    .why('records of others that are more than a batch may be stop their partition permanently')
    .swap('infra/kafka/dead-letters', 'bytes + size > PIECE_BYTES_MAX', 'pieces.length === 0')
    .red(LETTERS, 'foreign records that fill a block become dead letters in pieces, and the load continues'),
  mutant('forgotten-not-looked-up', [2, 4])
    .why('an event that hung in a connection until its takeover was forgotten is counted a second time')
    .swap('aggregator/load/doubtful-ids', 'mayHaveForgotten(committedAtMs)', 'false')
    .red(FORGOTTEN, 'an original that comes when its take-over is forgotten counts once'),
  mutant('seen-by-others-taken-for-unseen', [2, 4])
    .why('a new owner of a partition counts what the one before had counted by its take-over')
    .is('aggregator/load/seed-recent-ids', 'const recentIds = createRecentIds(generationMax);')
    .red(FORGOTTEN, 'an original that comes to a new owner counts once'),
  mutant('repaired-during-inserts', [4, 5])
    .why('hours that another partition is just adding to are rebuilt, and then added to once more')
    .swap('aggregator/load/insert-lock', 'ENTER_ALONE', 'ENTER')
    .red(INSERT_LOCK, 'inserts run concurrently; an exclusive one waits, and later ones wait for it'),
  mutant('gate-held-for-ever', [8])
    .why('a process that pauses in the middle of an insert keeps all others from loading')
    .swap('aggregator/load/insert-lock', 'String(heldMaxMs)', "'0'")
    .red(INSERT_LOCK, 'an exclusive session that hangs loses the lock, and notices before its next write'),
  mutant('cluster-inserted-concurrently', [8])
    .why('a cluster rejects a concurrent second insert: partitions keep failing each other')
    .never('aggregator/load/load-range')
    .red(ONE_AT_A_TIME, 'a warehouse that takes one insert at a time gets no two concurrently'),
  mutant('gate-lost-unnoticed', [4, 5])
    .why('a process that lost its lock while paused rebuilds hours during the inserts of others')
    .swap('infra/clickhouse/warehouse-over', 'checking(transport, mayWrite)', 'transport')
    .red(ONE_AT_A_TIME, 'a process that has lost the insert lock does not repair a block'),
];
