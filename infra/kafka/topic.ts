import { Fatal, Transient } from '../../schemas/failures.ts';
import { poll } from '../platform/poll.ts';
import type { KafkaClient } from './kafka-client.ts';
import { typeOf } from './kafka-errors.ts';
import type { KafkaSettings } from './kafka-settings.ts';

/** The topic of records that are not ours. */
export function deadLetterTopic({ topic }: KafkaSettings): string {
  return `${topic}.dead-letters`;
}

/** A frame is at most a few MB; what a broker takes at most may be no less. */
const RECORD_BYTES_MIN = 4 * 1024 * 1024;
const RECORD_BYTES = 8 * 1024 * 1024;
/** Longer than any outage of the load. Set here, because a broker's default may be an hour. */
const RETENTION_MS = 7 * 86_400_000;
const KNOWN = { timeoutMs: 5_000, everyMs: 100 };
const TOPIC_CONFIG = 2;
const NOT_KNOWN = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'];

/**
 * Creates missing topics, where that is allowed, and checks the others. Throws Fatal `bad_configuration` when
 * a topic keeps less than configured.
 */
export async function ensureTopics(client: KafkaClient, settings: KafkaSettings): Promise<void> {
  const { topic, partitions } = settings;
  await ensureTopic(client, settings, { topic, partitions });
  await ensureTopic(client, settings, { topic: deadLetterTopic(settings), partitions: 1 });
}

interface Wanted {
  topic: string;
  partitions: number;
}

async function ensureTopic(client: KafkaClient, settings: KafkaSettings, wanted: Wanted): Promise<void> {
  const found = await replicasOf(client, wanted.topic);
  if (!found) {
    if (!settings.autoCreate) {
      throw rejection(`the topic ${wanted.topic} is missing, and KAFKA_AUTO_CREATE is false: make it`);
    }
    await makeTopic(client, settings, wanted);
  }
  // Not every broker knows a new topic yet.
  const replicas = found ?? (await poll(() => replicasOf(client, wanted.topic), KNOWN));
  if (!replicas)
    throw new Transient('kafka_unavailable', `Kafka has not made the topic ${wanted.topic} yet.`);
  checkShape(settings, wanted, replicas);
  await checkConfig(client, settings, wanted);
}

/** How many replicas each partition has; undefined where there is no such topic. */
async function replicasOf({ admin }: KafkaClient, topic: string): Promise<number[] | undefined> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const partitions = topics.find(({ name }) => name === topic)?.partitions;
    return partitions?.map(({ replicas }) => replicas.length);
  } catch (error) {
    if (NOT_KNOWN.includes(typeOf(error) ?? '')) return undefined;
    throw error;
  }
}

async function makeTopic({ admin }: KafkaClient, settings: KafkaSettings, wanted: Wanted): Promise<void> {
  const { replication, minIsr } = settings;
  try {
    await admin.createTopics({
      waitForLeaders: false,
      topics: [
        {
          topic: wanted.topic,
          numPartitions: wanted.partitions,
          replicationFactor: replication,
          configEntries: [
            { name: 'min.insync.replicas', value: String(minIsr) },
            { name: 'max.message.bytes', value: String(RECORD_BYTES) },
            { name: 'cleanup.policy', value: 'delete' },
            { name: 'retention.ms', value: String(RETENTION_MS) },
            { name: 'retention.bytes', value: '-1' },
            { name: 'unclean.leader.election.enable', value: 'false' },
          ],
        },
      ],
    });
  } catch (cause) {
    const rejected = firstReason(cause);
    if (!/REPLICATION_FACTOR|POLICY|INVALID|AUTHORIZATION/.test(rejected.type)) throw cause;
    throw rejection(
      `the topic ${wanted.topic} cannot be made with KAFKA_REPLICATION ${replication} (${rejected.message})`,
      cause,
    );
  }
}

/** kafkajs collects the errors of each topic. */
function firstReason(cause: unknown): { type: string; message: string } {
  const all = (cause as { errors?: unknown[] }).errors;
  const first = all?.[0] ?? cause;
  return { type: typeOf(first) ?? '', message: first instanceof Error ? first.message : String(first) };
}

function checkShape({ replication }: KafkaSettings, { topic, partitions }: Wanted, replicas: number[]): void {
  if (replicas.length !== partitions) {
    throw rejection(
      `the topic ${topic} has ${replicas.length} partitions, and KAFKA_PARTITIONS is ${partitions}: ` +
        'the number is fixed when the topic is first used',
    );
  }
  const fewest = Math.min(...replicas);
  if (fewest < replication) {
    throw rejection(`the topic ${topic} has ${fewest} replicas, fewer than KAFKA_REPLICATION ${replication}`);
  }
}

async function configOf({ admin }: KafkaClient, topic: string): Promise<Map<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_CONFIG, name: topic }],
  });
  return new Map(resources[0]?.configEntries.map((one) => [one.configName, one.configValue]));
}

/** How long the topic keeps a record; undefined: forever. Throws what kafkajs throws. */
export async function retentionOf(client: KafkaClient, topic: string): Promise<number | undefined> {
  const ms = Number((await configOf(client, topic)).get('retention.ms'));
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

async function checkConfig(client: KafkaClient, settings: KafkaSettings, { topic }: Wanted): Promise<void> {
  const entries = await configOf(client, topic);
  const minIsr = Number(entries.get('min.insync.replicas'));
  if (minIsr < settings.minIsr) {
    throw rejection(
      `the topic ${topic} has min.insync.replicas ${minIsr}, less than KAFKA_MIN_ISR ${settings.minIsr}`,
    );
  }
  if (entries.get('cleanup.policy') !== 'delete') {
    throw rejection(`the topic ${topic} is compacted: set its cleanup.policy to delete`);
  }
  if (entries.get('unclean.leader.election.enable') === 'true') {
    throw rejection(`the topic ${topic} allows unclean.leader.election, which loses what was acknowledged`);
  }
  if (Number(entries.get('max.message.bytes')) < RECORD_BYTES_MIN) {
    throw rejection(`the topic ${topic} has max.message.bytes below ${RECORD_BYTES_MIN}`);
  }
}

function rejection(what: string, cause?: unknown): Fatal {
  return new Fatal('bad_configuration', `Bad configuration: ${what}.`, { cause });
}
