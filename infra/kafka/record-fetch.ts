import { FRAME_HEADER_BYTES, FRAME_MAGIC } from '../../schemas/stored/frame.ts';
import type { LogFrame } from '../ports/event-log.ts';
import type { FetchedRecord, KafkaClient } from './kafka-client.ts';
import { IDENTITY_HEADER } from './topic-identity.ts';

export interface RecordFetch {
  /** From an offset on, in one fetch: at least one where there is one. Throws what kafkajs throws. */
  records(partition: number, from: number, bytesMax: number): Promise<FetchedRecord[]>;
  frames(partition: number, from: number, bytesMax: number): Promise<LogFrame[]>;
}

export function createRecordFetch(client: KafkaClient, topic: string): RecordFetch {
  async function records(partition: number, from: number, maxBytes: number): Promise<FetchedRecord[]> {
    const broker = await client.leaderOf(topic, partition);
    const { responses } = await broker.fetch({
      replicaId: -1,
      isolationLevel: 0,
      maxWaitTime: 0,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes }] }],
    });
    const fetched = responses[0]?.partitions[0]?.messages ?? [];
    // A batch comes as a whole, also when it is entered in its middle.
    return fetched.filter(({ offset }) => Number(offset) >= from);
  }

  /** Data that cannot be read as a record is skipped one by one: our records are never packed like that. */
  async function frames(partition: number, from: number, bytesMax: number): Promise<LogFrame[]> {
    try {
      return (await records(partition, from, bytesMax)).map(frameOf);
    } catch (error) {
      if ((error as Error).name !== 'KafkaJSNotImplemented') throw error;
      if (bytesMax > 1) return await frames(partition, from, 1);
      const foreign = `packed in a way that is not read here: ${(error as Error).message}`;
      return [{ position: from, next: from + 1, bytes: NOTHING, foreign }];
    }
  }

  return { records, frames };
}

const NOTHING = Buffer.alloc(0);

function frameOf({ offset, value, headers, isControlRecord = false }: FetchedRecord): LogFrame {
  const position = Number(offset);
  const place = { position, next: position + 1 };
  if (isControlRecord || headers[IDENTITY_HEADER]) return { ...place, bytes: NOTHING };
  const bytes = value ?? NOTHING;
  const isOurs = bytes.length >= FRAME_HEADER_BYTES && bytes.readUInt32LE(0) === FRAME_MAGIC;
  return isOurs ? { ...place, bytes } : { ...place, bytes, foreign: 'it does not begin as a frame does' };
}
