import type { DeadLetters, LogFrame } from '../ports/event-log.ts';
import { type KafkaBroker, type KafkaClient, type KafkaMessage, REQUEST_TIMEOUT_MS } from './kafka-client.ts';
import { unavailable } from './kafka-errors.ts';

/** Of the records of one request: their topic takes 4 MiB at least (topic.ts), all in all. */
const PIECE_BYTES_MAX = 3 * 1024 * 1024;
/** Headers and numbers of a record, generously. */
const AROUND_BYTES = 512;

/**
 * Its headers say where each was and why it is there. Of a record that is larger than a request may be the
 * beginning is kept, and its size is stated.
 */
export function createDeadLetters(client: KafkaClient, topic: string, letters: string): DeadLetters {
  async function send(broker: KafkaBroker, messages: KafkaMessage[]): Promise<void> {
    const topicData = [{ topic: letters, partitions: [{ partition: 0, messages }] }];
    await broker.produce({ acks: -1, timeout: REQUEST_TIMEOUT_MS, topicData });
  }

  return {
    async put(partition, records) {
      try {
        await client.open(letters);
        const broker = await client.leaderOf(letters, 0);
        for (const piece of piecesOf(records)) {
          await send(
            broker,
            piece.map((record) => letterOf(topic, partition, record)),
          );
        }
      } catch (cause) {
        void client.refresh();
        throw unavailable('does not take dead letters', cause);
      }
    },
  };
}

function letterOf(
  topic: string,
  partition: number,
  { position, bytes, foreign = '' }: LogFrame,
): KafkaMessage {
  const isCut = bytes.length > PIECE_BYTES_MAX;
  const reason = isCut ? `${foreign}; this is the beginning of ${bytes.length} bytes` : foreign;
  return {
    value: bytes.subarray(0, PIECE_BYTES_MAX),
    timestamp: String(Date.now()),
    headers: { topic, partition: String(partition), offset: String(position), reason },
  };
}

/** In order, each within the bound. */
function piecesOf(records: readonly LogFrame[]): LogFrame[][] {
  const pieces: LogFrame[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = Math.min(record.bytes.length, PIECE_BYTES_MAX) + AROUND_BYTES;
    // mutant: letters-sent-as-one
    if (bytes + size > PIECE_BYTES_MAX) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(record);
    bytes += size;
  }
  return pieces;
}
