import { expect, vi } from 'vitest';
import type { KafkaLog } from '../../infra/kafka/kafka-log.ts';
import { type KafkaUnderTest, kafkaUnderTest } from '../../infra/kafka/kafka-under-test.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import { frameOf, type LoggedEvent, partitionOfEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import type { AggregatorOptions } from '../aggregator-options.ts';
import { exactly, start } from '../aggregator-under-test.ts';
import { ensureEventIds } from '../store/event-ids.ts';

export const PARTITIONS = 2;
/** Forty years: events of tests were created on a fixed day, and ids that are too old are removed. */
const KEPT_HOURS = 350_000;
/** For what comes within a few seconds, however busy the machine. */
export const SOON = { timeout: 15_000, interval: 50 };
/** For a partition that changes hands. */
export const PATIENCE = { timeout: 40_000, interval: 50 };

export type DistributedLoadUnderTest = Awaited<ReturnType<typeof openDistributedLoad>>;

/** A topic of one's own, and everything behind it. */
export async function openDistributedLoad(given?: { stores: LoadStores; topic: KafkaUnderTest }) {
  const stores = given?.stores ?? (await openLoadStores());
  await ensureEventIds(stores.warehouse, KEPT_HOURS);
  const topic = given?.topic ?? (await kafkaUnderTest(stores.pool, { partitions: PARTITIONS }));
  const kafka = await topic.open();
  return {
    stores,
    topic,
    kafka,
    load: (owner: string, log: KafkaLog = kafka, options: Partial<AggregatorOptions> = {}) =>
      start(
        stores,
        { reader: log.reader, distributed: { deadLetters: log.deadLetters } },
        { owner, ...options },
      ),
    put: async (partition: number, given: LoggedEvent[], recheck: number[] = [], atMs = TEST_NOW_MS) => {
      const frame = frameOf(kafka.logId, given, atMs, recheck);
      expect(await kafka.writer(partition).append(frame)).toMatchObject({ status: 'durable' });
    },
  };
}

/** Each event into its own partition. */
export async function putAll(
  { put }: DistributedLoadUnderTest,
  given: LoggedEvent[],
  atMs?: number,
): Promise<void> {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const own = given.filter(({ id }) => partitionOfEvent(id, PARTITIONS) === partition);
    if (own.length > 0) await put(partition, own, [], atMs);
  }
}

export async function counted(
  { stores }: DistributedLoadUnderTest,
  count: number,
  patience = SOON,
): Promise<void> {
  await vi.waitFor(async () => expect(await stores.counted()).toEqual(exactly(count)), patience);
}

/** As Kafka does it with old segments: the records of partition 0 before this offset. */
export async function giveUpRecords({ client, settings }: KafkaUnderTest, offset: string): Promise<void> {
  const { topic } = settings;
  await client.admin.fetchTopicOffsets(topic);
  await client.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] });
}

/** The topic, made otherwise than by Metergate. */
export async function createTopic({ client, settings }: KafkaUnderTest): Promise<void> {
  const configEntries = [{ name: 'max.message.bytes', value: '8388608' }];
  const topic = { topic: settings.topic, numPartitions: PARTITIONS, configEntries };
  await client.admin.createTopics({ topics: [topic] });
}

export async function owners({ stores }: DistributedLoadUnderTest): Promise<string[]> {
  const { rows } = await stores.pool.query<{ owner: string }>(
    'SELECT owner FROM partition_leases WHERE expires_at > now() AND partition >= 0 ORDER BY partition',
  );
  return rows.map(({ owner }) => owner);
}
