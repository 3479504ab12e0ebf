import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';
import { sharedKafka } from '../../tests/servers/shared-url.ts';
import { retryUntilAvailable } from '../platform/retry-until-available.ts';
import { createKafkaClient, type FetchedRecord, type KafkaClient } from './kafka-client.ts';
import { type KafkaLog, openKafkaLog } from './kafka-log.ts';
import type { KafkaSettings } from './kafka-settings.ts';
import { createRecordFetch } from './record-fetch.ts';

/** A topic of one's own on the broker of all tests. */
export interface KafkaUnderTest {
  settings: KafkaSettings;
  /** As a process of its own does. */
  open(): Promise<KafkaLog>;
  /** To do to the topic what operators and others do. */
  client: KafkaClient;
  /** Puts a record there that is none of ours. */
  putForeign(partition: number, value: string): Promise<void>;
  /** The records of a topic of one partition. */
  letters(): Promise<Array<{ value: string; headers: Record<string, string> }>>;
}

const log = pino({ level: 'silent' });
const PATIENCE = { timeout: 10_000, interval: 100 };
const FETCHED_BYTES = 1_000_000;

export async function kafkaUnderTest(
  pool: Pool,
  given: Partial<KafkaSettings> = {},
): Promise<KafkaUnderTest> {
  const topic = `test-${randomBytes(6).toString('hex')}`;
  const brokers = given.brokers ?? [await sharedKafka()];
  const settings = {
    ...{ brokers, topic, partitions: 2, replication: 1, minIsr: 1, autoCreate: true, tls: false },
    ...given,
  };
  const client = createKafkaClient(settings, log);
  await client.admin.connect();
  onTestFinished(() => client.close());
  return {
    settings,
    client,
    async open() {
      const kafka = await retryUntilAvailable('Kafka', () => openKafkaLog({ settings, pool, log }), log);
      onTestFinished(() => kafka.close());
      return kafka;
    },
    async putForeign(partition, value) {
      const messages = [{ value: Buffer.from(value), timestamp: String(Date.now()) }];
      const topicData = [{ topic: settings.topic, partitions: [{ partition, messages }] }];
      // A new topic has no leader for a short time.
      await vi.waitFor(async () => {
        await client.open(settings.topic);
        await client.refresh();
        const broker = await client.leaderOf(settings.topic, partition);
        await broker.produce({ acks: -1, timeout: 5_000, topicData });
      }, PATIENCE);
    },
    async letters() {
      const letters = `${settings.topic}.dead-letters`;
      await client.open(letters);
      const { records } = createRecordFetch(client, letters);
      const found: FetchedRecord[] = [];
      // More than one batch comes in more than one fetch.
      for (let more = await records(0, 0, FETCHED_BYTES); more.length > 0; ) {
        found.push(...more);
        more = await records(0, found.length, FETCHED_BYTES);
      }
      return found.map(({ value, headers }) => ({
        value: String(value),
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)])),
      }));
    },
  };
}
