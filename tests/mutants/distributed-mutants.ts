import type { Mutant } from './mutant.ts';

const CLAIMS_TEST = 'ingest/distributed/claims.distributed-store.test.ts';
const IDENTITY_TEST = 'infra/valkey/store-epoch.distributed-store.test.ts';
const LOAD_TEST = 'aggregator/load/load.distributed-store.test.ts';
const SCRIPTS = 'infra/valkey/key-scripts';

const RACE = 'of two that race one writes, and the other gets no response before that is durable';
const TAKE_OVER = 'after the lease the same event is taken over: with the first times, and flagged';
const UNKNOWN = 'what may be written keeps its key: not for another event, nor before the lease is over';
/** The response for a key while its claim is held. */
const CLAIMED = /^This idempotency key is being processed by another instance\. Retry\.$/;
const YOUNG = 'a restarted store may have lost keys for a whole window, for every process';

/** What several processes share: the log on Kafka, the keys on Valkey, the partitions. */
export const DISTRIBUTED_MUTANTS: readonly Mutant[] = [
  {
    name: 'claim-without-lease',
    promises: [2],
    why: 'what another process is about to write is taken over at once, and is on the log twice',
    module: SCRIPTS,
    find: 'elseif lease and lease > now then',
    replace: 'elseif false then',
    provedBy: [{ test: CLAIMS_TEST, title: RACE }],
  },
  {
    name: 'claim-for-ever',
    promises: [2],
    why: 'a key whose owner died is rejected until it is forgotten',
    module: SCRIPTS,
    find: 'elseif lease and lease > now then',
    replace: 'elseif lease then',
    provedBy: [{ test: CLAIMS_TEST, title: TAKE_OVER, stopsWith: CLAIMED }],
  },
  {
    name: 'released-on-unknown',
    promises: [1, 2],
    why: 'a record that may be on the log leaves its key free: another body is accepted as well',
    module: 'ingest/distributed/partition-commit',
    find: "if (outcome.status === 'not_sent') {",
    replace: 'if (true) {',
    provedBy: [{ test: CLAIMS_TEST, title: UNKNOWN }],
  },
  {
    name: 'kept-when-not-sent',
    promises: [2],
    why: 'a key whose event was certainly not written is rejected until the lease is over',
    module: 'ingest/distributed/partition-commit',
    find: "if (outcome.status === 'not_sent') {",
    replace: 'if (false) {',
    provedBy: [
      {
        test: CLAIMS_TEST,
        title: 'what was certainly not written leaves its key free, for another event too',
        stopsWith: CLAIMED,
      },
    ],
  },
  {
    name: 'taken-over-with-new-times',
    promises: [2],
    why: 'the second record of one event lies in another hour: it is not found, and counted again',
    module: 'ingest/distributed/claim-round',
    find: 'if (isTakenOver) lines.addWith(identified, item,',
    replace: 'if (isTakenOver) lines.add(identified, item,',
    provedBy: [{ test: CLAIMS_TEST, title: TAKE_OVER }],
  },
  {
    name: 'pending-times-taken',
    promises: [2],
    why: 'a client that waited for an event that was then not written is shown times that nobody stored',
    module: 'ingest/distributed/claim-round',
    find: 'OUTCOME.duplicate && !isPending',
    replace: 'OUTCOME.duplicate',
    provedBy: [
      {
        test: CLAIMS_TEST,
        title: 'a process that waits for another and then writes itself stores the times that it shows',
      },
    ],
  },
  {
    name: 'taken-over-unflagged',
    promises: [2, 4],
    why: 'an event that may stand on the log already is counted without a look',
    module: 'ingest/distributed/claim-round',
    find: 'if (isTakenOver || mayHaveLostKeys)',
    replace: 'if (mayHaveLostKeys)',
    provedBy: [{ test: CLAIMS_TEST, title: TAKE_OVER }],
  },
  {
    name: 'young-store-unflagged',
    promises: [2, 4],
    why: 'after keys were lost a replay is counted as a new event',
    module: 'ingest/distributed/claim-round',
    find: 'if (isTakenOver || mayHaveLostKeys)',
    replace: 'if (isTakenOver)',
    provedBy: [
      {
        test: CLAIMS_TEST,
        title: 'what is claimed from a store that may have lost keys is flagged, all of it',
      },
    ],
  },
  {
    name: 'run-id-believed',
    promises: [2, 4],
    why: 'a key store that came back without its keys is taken for the one that it was',
    module: 'infra/valkey/store-epoch',
    find: 'mayHaveLostKeys: () => !known || known.mayHaveLostKeysUntilMs > clock.monotonicMs(),',
    replace: 'mayHaveLostKeys: () => false,',
    provedBy: [{ test: IDENTITY_TEST, title: YOUNG }],
  },
  {
    name: 'confirmed-by-key-alone',
    promises: [2],
    why: 'an owner that was too slow returns created for an event that another process wrote',
    module: 'infra/valkey/valkey-keys',
    find: 'if (lost.length > 0) giveUp(held, lost);',
    replace: '',
    provedBy: [
      {
        test: CLAIMS_TEST,
        title: 'an owner that was too slow finds that another has its key, and its response is true',
      },
    ],
  },
  {
    name: 'flagged-not-looked-up',
    promises: [2, 4],
    why: 'an event that was written again after an unknown outcome is counted twice',
    module: 'aggregator/load/known-ids',
    find: 'if (doubtful.size === 0) return [...seen];',
    replace: 'return [...seen];',
    provedBy: [
      {
        test: LOAD_TEST,
        title: 'a flagged event that is stored is left out, and one that is new is counted',
      },
    ],
  },
  {
    name: 'freeze-not-fenced',
    promises: [4],
    why: 'an aggregator that lost its partition freezes a range that its successor freezes too: both count',
    module: 'aggregator/store/ranges',
    find: `WHERE log_id = $1 AND partition = $2 AND epoch = $3 AND expires_at > now()
       AND $4 = coalesce(`,
    replace: `WHERE log_id = $1 AND partition = $2 AND $3::bigint IS NOT NULL
       AND $4 = coalesce(`,
    provedBy: [{ test: LOAD_TEST, title: 'a process that has lost its lease freezes nothing any more' }],
  },
  {
    name: 'loaded-by-any-epoch',
    promises: [4],
    why: 'an aggregator that lost its partition marks what its follower has not stored yet',
    module: 'aggregator/store/ranges',
    find: "AND lo = $3 AND epoch = $4 AND state = 'pending' RETURNING",
    replace: "AND lo = $3 AND $4::bigint IS NOT NULL AND state = 'pending' RETURNING",
    provedBy: [
      { test: 'aggregator/store/ranges.store.test.ts', title: 'can be marked by the new epoch only' },
    ],
  },
  {
    name: 'foreign-record-dropped',
    promises: [4],
    why: 'a record that is not ours is gone without a trace',
    module: 'aggregator/load/load-loop',
    find: 'if (distributed && block.foreign.length > 0) await setAside(deps, distributed, lease, block);',
    replace: '',
    provedBy: [
      {
        test: LOAD_TEST,
        title: 'a record of others goes to the dead letters with the reason, and the partition goes on',
      },
    ],
  },
  {
    name: 'trimmed-log-passed-over',
    promises: [4],
    why: 'what Kafka gave up before it was counted is missing in every bill, and nothing reports it',
    module: 'infra/kafka/kafka-reader',
    find: 'if (from >= first) return [];',
    replace: 'if (from >= first) return []; else return await fetchFrames(partition, first, bytesMax);',
    provedBy: [
      { test: LOAD_TEST, title: 'what Kafka gave up before it was loaded is named, and not passed over' },
    ],
  },
  {
    name: 'topic-taken-by-its-name',
    promises: [4],
    why: 'a recreated topic is read on in its middle: the records before are never counted',
    module: 'infra/kafka/kafka-reader',
    find: 'await check(partition);',
    replace: '',
    provedBy: [
      {
        test: LOAD_TEST,
        title: 'a topic that was created again is detected, whatever records it has',
      },
    ],
  },
  {
    name: 'silent-broker-kept',
    promises: [8],
    why: 'a connection whose other end is gone is used for a quarter of an hour, and nothing is accepted',
    module: 'infra/kafka/give-up-silent',
    find: 'if (silentLooks > LOOKS) socket.destroy(',
    replace: 'if (false) socket.destroy(',
    provedBy: [
      {
        test: 'infra/kafka/give-up-silent.test.ts',
        title: 'a connection that owes a response and is silent is closed',
      },
    ],
  },
  {
    name: 'silent-key-store-kept',
    promises: [8],
    why: 'a connection whose other end is gone is used forever, and nothing is accepted',
    module: 'infra/valkey/valkey-client',
    find: 'socketTimeout: SILENT_MAX_MS,',
    replace: '',
    provedBy: [
      {
        test: 'infra/valkey/silent-connection.distributed-store.test.ts',
        title: 'a connection to the key store that falls silent is replaced',
      },
    ],
  },
];
