import { mutant } from './mutant-row.ts';

const CLAIMS = 'ingest/distributed/claims.distributed-store.test.ts';
const STORE_EPOCH = 'infra/valkey/store-epoch.distributed-store.test.ts';
const GIVE_UP_SILENT = 'infra/kafka/give-up-silent.test.ts';
const SILENT_CONNECTION = 'infra/valkey/silent-connection.distributed-store.test.ts';
const BROKEN_CONNECTIONS = 'infra/kafka/broken-connections.distributed-store.test.ts';
const KEPT_KEYS = 'infra/valkey/kept-keys.distributed-store.test.ts';
const PARTITION_COMMIT = 'ingest/distributed/partition-commit.test.ts';
const PRODUCE_BATCHER = 'ingest/distributed/produce-batcher.test.ts';
const FAIL_OVER = 'infra/valkey/fail-over.distributed-store.test.ts';

const CLAIM_SCRIPT = 'infra/valkey/key-scripts#CLAIM';
/** The response for a key while its claim is held. */
const CLAIMED = /^This idempotency key is being processed by another instance\. Retry\.$/;

/** What several processes share: the log on Kafka, the keys on Valkey, and what a claim is worth. */
export const DISTRIBUTED_MUTANTS = [
  mutant('claim-without-lease', [2])
    .why('what another process is about to write is taken over at once, and is on the log twice')
    .swap(CLAIM_SCRIPT, 'elseif lease and lease > now then', 'elseif false then')
    .red(CLAIMS, 'of two that race one writes, and the other gets no response before that is durable'),
  mutant('claim-for-ever', [2])
    .why('a key whose owner died is rejected until it is forgotten')
    .swap(CLAIM_SCRIPT, 'elseif lease and lease > now then', 'elseif lease then')
    .red(CLAIMS, 'after the lease the same event is taken over: with the first times, and flagged', CLAIMED),
  mutant('released-on-unknown', [1, 2])
    .why('a record that may be on the log leaves its key free: another body is accepted as well')
    .always('ingest/distributed/partition-commit')
    .red(CLAIMS, 'what may be written keeps its key: not for another event, nor before the lease is over'),
  mutant('kept-when-not-sent', [2])
    .why('a key whose event was certainly not written is rejected until the lease is over')
    .never('ingest/distributed/partition-commit')
    .red(CLAIMS, 'what was certainly not written leaves its key free, for another event too', CLAIMED),
  mutant('round-bounded-without-names', [8])
    .why('a frame of many customers is larger than a record of the topic may be: no retry is ever accepted')
    .drop('ingest/distributed/split-request')
    .red(PARTITION_COMMIT, 'a frame has no more than a round may have, however small its events are'),
  mutant('taken-over-with-new-times', [2])
    .why('the second record of one event lies in another hour: it is not found, and counted again')
    .swap('infra/valkey/valkey-keys', '|| isTakenOver', '')
    .red(CLAIMS, 'after the lease the same event is taken over: with the first times, and flagged'),
  mutant('pending-times-taken', [2])
    .why('an event that waited for another of its key, which was then not written, is stored with its times')
    .swap('ingest/distributed/claim-round', '!isPending', 'true')
    .red(CLAIMS, 'a process that waits for another and then writes itself stores and shows its own times'),
  mutant('taken-over-unflagged', [2, 4])
    .why('an event that may stand on the log already is counted without a look')
    .swap('ingest/distributed/claim-round', 'isTakenOver', 'false')
    .red(CLAIMS, 'after the lease the same event is taken over: with the first times, and flagged'),
  mutant('young-store-unflagged', [2, 4])
    .why('after keys were lost a replay is counted as a new event')
    .swap('ingest/distributed/claim-round', 'mayHaveLostKeys', 'false')
    .red(CLAIMS, 'what is claimed from a store that may have lost keys is flagged, all of it'),
  mutant('voids-unflagged', [2, 4])
    .why('a void that is written again once its key is forgotten takes its event away twice')
    .swap('ingest/distributed/claim-round', 'identified.areFlagged', 'false')
    .red(
      'ingest/engine/js/distributed-engine.test.ts',
      'all voids are flagged, and nothing else that is new is',
    ),
  mutant('run-id-believed', [2, 4])
    .why('a key store that came back without its keys is taken for the one that it was')
    .never('infra/valkey/store-epoch')
    .red(STORE_EPOCH, 'a restarted store may have lost keys for a whole window, for every process'),
  mutant('confirmed-by-key-alone', [2])
    .why('an owner that was too slow returns created for an event that another process wrote')
    .drop('infra/valkey/valkey-keys')
    .red(CLAIMS, 'an owner that was too slow finds that another has its key, and its response is true'),
  mutant('silent-broker-kept', [8])
    .why('a connection whose other end is gone is used for a quarter of an hour, and nothing is accepted')
    .drop('infra/kafka/give-up-silent')
    .red(GIVE_UP_SILENT, 'a connection that owes a response and is silent is closed'),
  mutant('silent-key-store-kept', [8])
    .why('a connection whose other end is gone is used forever, and nothing is accepted')
    .drop('infra/valkey/valkey-client')
    .red(SILENT_CONNECTION, 'a connection to the key store that falls silent is replaced'),
  mutant('lost-leader-believed', [1, 2])
    .why('a broker that wrote a record and then lost the partition is taken for one that wrote nothing')
    .before('infra/kafka/kafka-errors', "'NOT_LEADER_FOR_PARTITION',")
    .red(BROKEN_CONNECTIONS, 'what a broker wrote that then has no leader it knows of may be written'),
  mutant('forgotten-claim-believed', [1])
    .why('a claim that came to nothing is durable once its lease is forgotten: acknowledged, and lost')
    .swap(CLAIM_SCRIPT, 'same and (lease or isForgotten(known))', 'same and lease')
    .red(KEPT_KEYS, 'a key older than keys are kept is a new event, flagged, whatever became of its claim'),
  mutant('lease-written-last', [1])
    .why('a claim that fails midway leaves keys without a lease: durable to a retry, and on no log')
    .swap(CLAIM_SCRIPT, "call('SET', leaseKey, leaseEnd, 'PX', 2 * keepMs, 'NX')", 'false')
    .red(KEPT_KEYS, 'a claim that fails midway leaves nothing that counts as durable'),
  mutant('keys-kept-for-the-window-alone', [2])
    .why('a replay of an event that lay ahead comes when its key is gone and it is not yet looked up')
    .is('infra/valkey/valkey-keys', 'return windowMs + CLOCKS_APART_MS;')
    .red(KEPT_KEYS, 'a key is kept for as long as its event may lie ahead, and for the window behind that'),
  mutant('possible-event-judged-again', [2])
    .why('a stored event is rejected, since its customer was archived before its client got the response')
    .swap(CLAIM_SCRIPT, 'elseif looksOnly and isForgotten(known) then', 'elseif looksOnly and lease then')
    .red(CLAIMS, 'what may be written is taken over though its customer was archived, and nothing new is'),
  mutant('batch-waited-for-once', [8])
    .why('after one partition has timed out the next waits for the lost response of a third, without a limit')
    .drop('ingest/distributed/produce-batcher')
    .red(PRODUCE_BATCHER, 'each has a limit of its own for a round that does not come'),
  mutant('replica-used-on', [8])
    .why('after a fail-over that kept the connections nothing is taken until the process is started again')
    .drop('infra/valkey/valkey-client')
    .red(FAIL_OVER, 'a primary that became a replica is left for the new one, whatever its response'),
];
