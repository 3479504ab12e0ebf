import { type KafkaBroker, REQUEST_TIMEOUT_MS } from './kafka-client.ts';
import { type PartitionResponse, PRODUCE, produceBody, produceResponse } from './produce-request.ts';
import { recordBatchOf } from './record-batch.ts';
import { sendRequest } from './send-request.ts';

/** Resolves with the record's offset when all replicas in sync have it. */
export type Produce = (
  broker: KafkaBroker,
  partition: number,
  value: readonly Uint8Array[],
) => Promise<number>;

interface Waiting {
  value: readonly Uint8Array[];
  resolve(offset: number): void;
  reject(error: unknown): void;
}

/**
 * What is appended to several partitions in one turn of the event loop is sent to their leader in one
 * request: most of what a request costs, here and there, is the same whatever it holds.
 */
export function createProduce(topic: string, headers: Record<string, string>): Produce {
  const batches = new Map<KafkaBroker, Map<number, Waiting>>();

  function flush(broker: KafkaBroker): void {
    const records = batches.get(broker);
    if (!records) return;
    batches.delete(broker);
    void send(broker, records).catch((error) => {
      for (const { reject } of records.values()) reject(error);
    });
  }

  async function send(broker: KafkaBroker, records: Map<number, Waiting>): Promise<void> {
    const timestampMs = Date.now();
    const batches = Array.from(records, ([partition, { value }]) => ({
      partition,
      batch: recordBatchOf({ value, headers, timestampMs }),
    }));
    const body = produceBody(topic, batches, REQUEST_TIMEOUT_MS);
    const { response, connection } = await sendRequest(broker, { ...PRODUCE, body });
    const { partitions, throttleMs } = produceResponse(response);
    connection.requestQueue.maybeThrottle(throttleMs);
    const responses = new Map(partitions.map((one) => [one.partition, one]));
    for (const [partition, waiting] of records) settle(waiting, responses.get(partition));
  }

  return (broker, partition, value) =>
    new Promise((resolve, reject) => {
      // Of two records for one partition in one request a broker would drop the first.
      if (batches.get(broker)?.has(partition)) flush(broker);
      const records = batches.get(broker) ?? new Map<number, Waiting>();
      if (records.size === 0) setImmediate(flush, broker);
      batches.set(broker, records.set(partition, { value, resolve, reject }));
    });
}

function settle({ resolve, reject }: Waiting, response: PartitionResponse | undefined): void {
  if (!response) reject(new Error('The broker returned no result for a partition.'));
  else if (response.rejection) reject(response.rejection);
  else resolve(response.offset);
}
