import { Fatal } from '../../schemas/failures.ts';
import type { RecordFetch } from './record-fetch.ts';
import { IDENTITY_HEADER, type TopicIdentity } from './topic-identity.ts';

export interface TopicIdentityCheckDeps {
  topic: string;
  identity: TopicIdentity;
  records: RecordFetch;
  ends(): Promise<number[]>;
  start(partition: number): Promise<number>;
}

/** Between two checks of the identity record of a partition that is read. */
const CHECK_EVERY_MS = 5_000;

/**
 * Checks whether a partition is the one that was written: a topic that was created again under its name has
 * other records where the identity record was, or none. Throws Fatal `log_recreated`.
 */
export function createTopicIdentityCheck({ topic, identity, records, ends, start }: TopicIdentityCheckDeps) {
  const checkedAtMs = identity.marks.map(() => Number.NEGATIVE_INFINITY);
  return async (partition: number): Promise<void> => {
    if (performance.now() - (checkedAtMs[partition] ?? 0) < CHECK_EVERY_MS) return;
    const mark = identity.marks[partition] ?? 0;
    if (((await ends())[partition] ?? 0) <= mark) throw recreated(topic, partition);
    if ((await start(partition)) <= mark) {
      const [record] = await records.records(partition, mark, 1);
      const found = record?.headers[IDENTITY_HEADER]?.toString();
      const isThere = Number(record?.offset) === mark;
      if (isThere && found !== identity.logId.toString('hex')) throw recreated(topic, partition);
    }
    checkedAtMs[partition] = performance.now();
  };
}

function recreated(topic: string, partition: number): Fatal {
  return new Fatal(
    'log_recreated',
    `Partition ${partition} of ${topic} is not the one that was written: the topic was created again. ` +
      'Restore it, or take another topic.',
  );
}
