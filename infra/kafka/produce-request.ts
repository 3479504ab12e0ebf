import { bytesOf } from './record-batch.ts';

/** What is appended to one partition: a record batch, in pieces. */
export interface PartitionBatch {
  partition: number;
  batch: readonly Uint8Array[];
}

/** Of one partition: the number of its first record, or why it was rejected. */
export interface PartitionResponse {
  partition: number;
  offset: number;
  rejection?: Error;
}

/** Produce of Kafka 2.1, which is the oldest that is taken, in the layout that 4 still reads. */
export const PRODUCE = { apiKey: 0, apiVersion: 7, apiName: 'Produce' } as const;

const ALL_IN_SYNC = -1;
const NO_TRANSACTION = -1;

/** One topic, each partition at most once: a broker would drop the first of two. `acks=all`. */
export function produceBody(
  topic: string,
  batches: readonly PartitionBatch[],
  timeoutMs: number,
): Uint8Array[] {
  const name = Buffer.from(topic);
  const head = Buffer.alloc(18 + name.length);
  head.writeInt16BE(NO_TRANSACTION, 0);
  head.writeInt16BE(ALL_IN_SYNC, 2);
  head.writeInt32BE(timeoutMs, 4);
  head.writeInt32BE(1, 8);
  head.writeInt16BE(name.length, 12);
  head.set(name, 14);
  head.writeInt32BE(batches.length, 14 + name.length);
  return [head, ...batches.flatMap(partitionData)];
}

function partitionData({ partition, batch }: PartitionBatch): Uint8Array[] {
  const head = Buffer.alloc(8);
  head.writeInt32BE(partition, 0);
  head.writeInt32BE(bytesOf(batch), 4);
  return [head, ...batch];
}

/** Partition, error, offset, time of the append, start of the log. */
const PARTITION_BYTES = 30;

export function produceResponse(bytes: Buffer): { partitions: PartitionResponse[]; throttleMs: number } {
  const countAt = 6 + bytes.readInt16BE(4);
  const count = bytes.readInt32BE(countAt);
  const from = countAt + 4;
  const partitions = Array.from({ length: count }, (_, index): PartitionResponse => {
    const at = from + index * PARTITION_BYTES;
    const code = bytes.readInt16BE(at + 4);
    const response = { partition: bytes.readInt32BE(at), offset: Number(bytes.readBigInt64BE(at + 6)) };
    return code === 0 ? response : { ...response, rejection: rejectionOf(code) };
  });
  return { partitions, throttleMs: bytes.readInt32BE(from + count * PARTITION_BYTES) };
}

/** The words of kafka-errors.ts, which knows for each what became of the record. */
const REJECTIONS: Record<number, string> = {
  3: 'UNKNOWN_TOPIC_OR_PARTITION',
  5: 'LEADER_NOT_AVAILABLE',
  6: 'NOT_LEADER_FOR_PARTITION',
  7: 'REQUEST_TIMED_OUT',
  10: 'MESSAGE_TOO_LARGE',
  17: 'INVALID_TOPIC_EXCEPTION',
  18: 'RECORD_LIST_TOO_LARGE',
  19: 'NOT_ENOUGH_REPLICAS',
  20: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND',
  21: 'INVALID_REQUIRED_ACKS',
  29: 'TOPIC_AUTHORIZATION_FAILED',
  31: 'CLUSTER_AUTHORIZATION_FAILED',
  32: 'INVALID_TIMESTAMP',
  35: 'UNSUPPORTED_VERSION',
  44: 'POLICY_VIOLATION',
};

function rejectionOf(code: number): Error {
  const type = REJECTIONS[code] ?? `ERROR_${code}`;
  return Object.assign(new Error(`The broker rejected a record: ${type}.`), { type });
}
