import type { DeadLetters } from '../ports/event-log.ts';
import { type KafkaClient, REQUEST_TIMEOUT_MS } from './kafka-client.ts';
import { unavailable } from './kafka-errors.ts';

/** Its headers say where each stood and why it is there. */
export function createDeadLetters(client: KafkaClient, topic: string, letters: string): DeadLetters {
  return {
    async put(partition, records) {
      const messages = records.map(({ position, bytes, foreign = '' }) => ({
        value: bytes,
        timestamp: String(Date.now()),
        headers: { topic, partition: String(partition), offset: String(position), reason: foreign },
      }));
      try {
        await client.open(letters);
        const broker = await client.leaderOf(letters, 0);
        await broker.produce({
          acks: -1,
          timeout: REQUEST_TIMEOUT_MS,
          topicData: [{ topic: letters, partitions: [{ partition: 0, messages }] }],
        });
      } catch (cause) {
        void client.refresh();
        throw unavailable('does not take dead letters', cause);
      }
    },
  };
}
