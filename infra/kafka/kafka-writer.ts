import type { PartitionOutcome, PartitionWriter } from '../ports/event-log.ts';
import type { KafkaBroker, KafkaClient } from './kafka-client.ts';
import { wasNotWritten } from './kafka-errors.ts';
import type { Produce } from './produce.ts';

export interface WriterDeps {
  client: KafkaClient;
  topic: string;
  logId: Uint8Array;
  /** Shared by the writers of all partitions. */
  produce: Produce;
}

/**
 * A frame is one record. `acks=all` and nothing else: kafkajs' idempotent producer acknowledges a record that
 * the broker dropped, and a retry of its own would silently write a record twice.
 */
export function createKafkaWriter(deps: WriterDeps, partition: number): PartitionWriter {
  const { client, topic, logId, produce } = deps;

  async function append(frame: Uint8Array[]): Promise<PartitionOutcome> {
    let broker: KafkaBroker;
    try {
      broker = await client.leaderOf(topic, partition);
    } catch (cause) {
      void client.refresh();
      return { status: 'not_sent', cause };
    }
    try {
      const position = await produce(broker, partition, frame);
      return { status: 'durable', position, end: position + 1 };
    } catch (cause) {
      void client.refresh();
      return { status: wasNotWritten(cause) ? 'not_sent' : 'unknown', cause };
    }
  }

  return { logId, append, close: async () => undefined };
}
