import type { PartitionOutcome, PartitionWriter } from '../ports/event-log.ts';
import { type KafkaBroker, type KafkaClient, REQUEST_TIMEOUT_MS } from './kafka-client.ts';
import { wasNotWritten } from './kafka-errors.ts';
import { LOG_HEADER } from './log-birth.ts';

export interface WriterDeps {
  client: KafkaClient;
  topic: string;
  logId: Uint8Array;
}

/**
 * A frame is one record. `acks=all` and nothing else: kafkajs' idempotent producer acknowledges what the
 * broker dropped, and a retry of its own would write a record twice without anybody knowing.
 */
export function createKafkaWriter({ client, topic, logId }: WriterDeps, partition: number): PartitionWriter {
  const headers = { [LOG_HEADER]: Buffer.from(logId).toString('hex') };

  async function append(frame: Uint8Array[]): Promise<PartitionOutcome> {
    let broker: KafkaBroker;
    try {
      broker = await client.leaderOf(topic, partition);
    } catch (cause) {
      void client.refresh();
      return { status: 'not_sent', cause };
    }
    return await send(broker, Buffer.concat(frame)).catch(failed);
  }

  async function send(broker: KafkaBroker, value: Buffer): Promise<PartitionOutcome> {
    const { topics } = await broker.produce({
      acks: -1,
      timeout: REQUEST_TIMEOUT_MS,
      topicData: [
        {
          topic,
          partitions: [{ partition, messages: [{ value, timestamp: String(Date.now()), headers }] }],
        },
      ],
    });
    const position = Number(topics[0]?.partitions[0]?.baseOffset);
    return { status: 'durable', position, end: position + 1 };
  }

  function failed(cause: unknown): PartitionOutcome {
    void client.refresh();
    return wasNotWritten(cause) ? { status: 'not_sent', cause } : { status: 'unknown', cause };
  }

  return { logId, append, close: async () => undefined };
}
