import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import type { DeadLetters, EventLogReader, PartitionWriter } from '../ports/event-log.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createKafkaClient, type KafkaClient } from './kafka-client.ts';
import { startFailure, unavailable } from './kafka-errors.ts';
import { createKafkaReader } from './kafka-reader.ts';
import type { KafkaSettings } from './kafka-settings.ts';
import { createKafkaWriter } from './kafka-writer.ts';
import { createProduce } from './produce.ts';
import { PRODUCE } from './produce-request.ts';
import { deadLetterTopic, ensureTopics, retentionOf } from './topic.ts';
import { findOrMakeLog, LOG_HEADER } from './topic-identity.ts';

export interface KafkaLog {
  readonly logId: Uint8Array;
  readonly partitions: number;
  /** One append at a time in each. */
  writer(partition: number): PartitionWriter;
  readonly reader: EventLogReader;
  readonly deadLetters: DeadLetters;
  /** How long it keeps its records, loaded or not; undefined: forever. Throws Transient. */
  keepsMs(): Promise<number | undefined>;
  close(): Promise<void>;
}

export interface KafkaLogDeps {
  settings: KafkaSettings;
  /** Where it is kept which log a topic is. */
  pool: Pool;
  log: Logger;
}

/**
 * Checks the topic, creates it where it is missing, and opens it. Throws Fatal `bad_configuration` for what
 * the operator has to fix, Transient while the brokers are unavailable.
 */
export async function openKafkaLog({ settings, pool, log }: KafkaLogDeps): Promise<KafkaLog> {
  const client = createKafkaClient(settings, log);
  try {
    await client.connect();
    // First: an old broker may not respond to later requests.
    checkVersion(client, settings);
    await client.admin.connect();
    await ensureTopics(client, settings);
    await client.open(settings.topic);
    const identity = await findOrMakeLog(pool, client, settings);
    return logOver(client, settings, identity);
  } catch (cause) {
    await client.close();
    throw startFailure(settings.brokers, cause);
  }
}

function logOver(
  client: KafkaClient,
  settings: KafkaSettings,
  identity: Parameters<typeof createKafkaReader>[0]['identity'],
): KafkaLog {
  const { topic, partitions } = settings;
  const { logId } = identity;
  const produce = createProduce(topic, { [LOG_HEADER]: logId.toString('hex') });
  return {
    logId,
    partitions,
    writer: (partition) => createKafkaWriter({ client, topic, logId, produce }, partition),
    reader: createKafkaReader({ client, topic, identity }),
    deadLetters: createDeadLetters(client, topic, deadLetterTopic(settings)),
    keepsMs: () =>
      retentionOf(client, topic).catch((cause: unknown) => {
        throw unavailable('does not respond', cause);
      }),
    close: () => client.close(),
  };
}

function checkVersion(client: KafkaClient, { brokers }: KafkaSettings): void {
  const highest = client.highestVersion(PRODUCE.apiKey) ?? 0;
  if (highest >= PRODUCE.apiVersion) return;
  throw new Fatal('bad_configuration', `Bad configuration: Kafka at ${brokers.join(',')} is older than 2.1.`);
}
