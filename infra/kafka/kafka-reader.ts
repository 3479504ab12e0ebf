import { Fatal } from '../../schemas/failures.ts';
import type { EventLogReader, LogFrame } from '../ports/event-log.ts';
import type { KafkaClient } from './kafka-client.ts';
import { typeOf, unavailable } from './kafka-errors.ts';
import { createEndsReader } from './read-ends.ts';
import { createRecordFetch } from './record-fetch.ts';
import type { TopicIdentity } from './topic-identity.ts';
import { createTopicIdentityCheck } from './topic-identity-check.ts';

export interface ReaderDeps {
  client: KafkaClient;
  topic: string;
  identity: TopicIdentity;
}

const OUT_OF_RANGE = 'OFFSET_OUT_OF_RANGE';
const FETCH_BYTES_MAX = 16 * 1024 * 1024;

/** Single fetches at a given offset: where a partition continues is stated by the range table alone. */
export function createKafkaReader({ client, topic, identity }: ReaderDeps): EventLogReader {
  const { logId, marks } = identity;
  const partitions = [...marks.keys()];
  const records = createRecordFetch(client, topic);
  const readEnds = createEndsReader(() => requested(() => client.offsets(topic, partitions, 'latest')));
  const check = createTopicIdentityCheck({ topic, identity, records, ends: readEnds, start });

  async function requested<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      if (cause instanceof Fatal) throw cause;
      void client.refresh();
      throw unavailable('does not respond', cause);
    }
  }

  async function start(partition: number): Promise<number> {
    return (await requested(() => client.offsets(topic, partitions, 'earliest')))[partition] ?? 0;
  }

  async function fetchFrames(partition: number, from: number, bytesMax: number): Promise<LogFrame[]> {
    try {
      return await records.frames(partition, from, bytesMax);
    } catch (error) {
      if (typeOf(error) !== OUT_OF_RANGE) throw error;
      const first = await start(partition);
      // mutant: trimmed-log-passed-over
      if (from >= first) return [];
      // What is before the mark was never ours.
      if (first <= (marks[partition] ?? 0)) return [passedOver(from, first)];
      const gone = `begins at ${first}: what was from ${from} on is deleted`;
      throw new Fatal('log_trimmed', `Partition ${partition} of ${topic} ${gone}.`);
    }
  }

  async function read(partition: number, from: number, bytesMax: number): Promise<LogFrame[]> {
    // mutant: topic-taken-by-its-name
    await check(partition);
    const frames: LogFrame[] = [];
    let left = bytesMax;
    for (let at = from; left > 0; ) {
      const more = await fetchFrames(partition, at, Math.min(left, FETCH_BYTES_MAX));
      const fitting = countFitting(more, left, frames.length === 0);
      frames.push(...more.slice(0, fitting));
      if (fitting < more.length || more.length === 0) break;
      left -= bytesOf(more);
      at = more.at(-1)?.next ?? at;
    }
    return frames;
  }

  return {
    logId,
    partitions: marks.length,
    durableEnds: readEnds,
    durableEnd: async (partition) => (await readEnds())[partition] ?? 0,
    start,
    read: (partition, from, bytesMax) => requested(() => read(partition, from, bytesMax)),
    close: async () => undefined,
  };
}

function passedOver(position: number, next: number): LogFrame {
  return { position, next, bytes: Buffer.alloc(0) };
}

function countFitting(frames: LogFrame[], bytesMax: number, atLeastOne: boolean): number {
  let bytes = 0;
  const over = frames.findIndex((frame) => {
    bytes += frame.bytes.length;
    return bytes > bytesMax;
  });
  return over < 0 ? frames.length : Math.max(atLeastOne ? 1 : 0, over);
}

function bytesOf(frames: LogFrame[]): number {
  return frames.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
