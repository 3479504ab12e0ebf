import { Fatal } from '../../schemas/failures.ts';
import { FRAME_HEADER_BYTES, FRAME_MAGIC } from '../../schemas/frame.ts';
import type { EventLogReader, LogFrame } from '../ports/event-log.ts';
import { createEndsQuestion } from './ends-question.ts';
import type { FetchedRecord, KafkaClient } from './kafka-client.ts';
import { typeOf, unavailable } from './kafka-errors.ts';
import { BIRTH_HEADER, type LogBirth } from './log-birth.ts';

export interface ReaderDeps {
  client: KafkaClient;
  topic: string;
  birth: LogBirth;
}

/** Between two looks at the birth mark of a partition that is read. */
const CHECK_EVERY_MS = 5_000;
const FETCH_BYTES_MAX = 16 * 1024 * 1024;
const OUT_OF_RANGE = 'OFFSET_OUT_OF_RANGE';

/** Single fetches at a given offset: where a partition goes on is said by the range table alone. */
export function createKafkaReader({ client, topic, birth }: ReaderDeps): EventLogReader {
  const { logId, marks } = birth;
  const partitions = [...marks.keys()];
  const checkedAtMs = marks.map(() => Number.NEGATIVE_INFINITY);
  const ask = createEndsQuestion(() => offsets('latest'));

  function offsets(which: 'earliest' | 'latest'): Promise<number[]> {
    return asked(() => client.offsets(topic, partitions, which));
  }

  async function asked<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (cause) {
      if (cause instanceof Fatal) throw cause;
      void client.refresh();
      throw unavailable('does not answer', cause);
    }
  }

  async function start(partition: number): Promise<number> {
    return (await offsets('earliest'))[partition] ?? 0;
  }

  /** A topic that was made anew under its name has other records there, or none. */
  async function check(partition: number): Promise<void> {
    if (performance.now() - (checkedAtMs[partition] ?? 0) < CHECK_EVERY_MS) return;
    const mark = marks[partition] ?? 0;
    const end = (await ask())[partition] ?? 0;
    if (end <= mark) throw recreated(topic, partition);
    if ((await start(partition)) <= mark) {
      const [record] = await fetch(partition, mark, 1);
      const found = record?.headers[BIRTH_HEADER]?.toString();
      if (Number(record?.offset) === mark && found !== logId.toString('hex')) {
        throw recreated(topic, partition);
      }
    }
    checkedAtMs[partition] = performance.now();
  }

  async function fetch(partition: number, from: number, maxBytes: number): Promise<FetchedRecord[]> {
    const broker = await client.leaderOf(topic, partition);
    const { responses } = await broker.fetch({
      replicaId: -1,
      isolationLevel: 0,
      maxWaitTime: 0,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes }] }],
    });
    const records = responses[0]?.partitions[0]?.messages ?? [];
    // A batch comes as a whole, also when it is entered in its middle.
    return records.filter(({ offset }) => Number(offset) >= from);
  }

  /** What cannot be read as a record at all is passed over one by one: nobody packs ours like that. */
  async function fetchFrames(partition: number, from: number, bytesMax: number): Promise<LogFrame[]> {
    try {
      return (await fetch(partition, from, bytesMax)).map(frameOf);
    } catch (error) {
      if (typeOf(error) === OUT_OF_RANGE) return await outOfRange(partition, from);
      if ((error as Error).name !== 'KafkaJSNotImplemented') throw error;
      if (bytesMax > 1) return await fetchFrames(partition, from, 1);
      const foreign = `packed in a way that is not read here: ${(error as Error).message}`;
      return [{ position: from, next: from + 1, bytes: Buffer.alloc(0), foreign }];
    }
  }

  async function outOfRange(partition: number, from: number): Promise<LogFrame[]> {
    const first = await start(partition);
    if (from >= first) return [];
    throw new Fatal(
      'log_trimmed',
      `Partition ${partition} of ${topic} begins at ${first}: what stood from ${from} on is gone.`,
    );
  }

  return {
    logId,
    partitions: marks.length,
    durableEnds: ask,
    durableEnd: async (partition) => (await ask())[partition] ?? 0,
    start,
    read: (partition, from, bytesMax) =>
      asked(async () => {
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
      }),
    close: async () => undefined,
  };
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

const NOTHING = Buffer.alloc(0);

function frameOf({ offset, value, headers, isControlRecord = false }: FetchedRecord): LogFrame {
  const position = Number(offset);
  const place = { position, next: position + 1 };
  if (isControlRecord || headers[BIRTH_HEADER]) return { ...place, bytes: NOTHING };
  const bytes = value ?? NOTHING;
  const isOurs = bytes.length >= FRAME_HEADER_BYTES && bytes.readUInt32LE(0) === FRAME_MAGIC;
  return isOurs ? { ...place, bytes } : { ...place, bytes, foreign: 'it does not begin as a frame does' };
}

function recreated(topic: string, partition: number): Fatal {
  return new Fatal(
    'log_recreated',
    `Partition ${partition} of ${topic} is not the one that was written: the topic was made anew. ` +
      'Restore it, or take another topic.',
  );
}
