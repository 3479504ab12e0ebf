import type { Rejection } from '../../schemas/error-codes.ts';
import { Defect, Transient } from '../../schemas/failures.ts';
import { exactJson, exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { OWN_USAGE_BYTES_MAX } from '../../schemas/stored/own-usage.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { OwnEvent, OwnUsage, UsageWriter, WrittenEvent } from '../ports/usage-writer.ts';

/** One batch of usage events, with the body of the batch operation. */
export interface OwnBatch {
  environment: string;
  change?: ChangeRows | undefined;
  body: Buffer;
}

/** The response of the batch operation, with its events. */
export interface OwnBatchResponse {
  status: number;
  body: Buffer;
}

/** Has one batch written, here or in another process. Throws Transient with an unknown outcome. */
export type SendBatch = (batch: OwnBatch) => Promise<OwnBatchResponse>;

/** Writes in batches, one after the other: what the last of them wrote is durable behind the first. */
export function createUsageWriter(send: SendBatch): UsageWriter {
  return {
    async write({ environment, change, events }) {
      const written: WrittenEvent[] = [];
      for (const { body, count } of batchesOf(events)) {
        const results = resultsOf(await send({ environment, change, body }));
        if (results.length !== count) throw new Defect('a batch of our own usage has a result per event');
        written.push(...results);
      }
      return written;
    },
  };
}

/** Each within the limits of a batch. */
function batchesOf(events: OwnUsage['events']): Array<{ body: Buffer; count: number }> {
  const batches: string[][] = [];
  let [bytes, open]: [number, string[] | undefined] = [0, undefined];
  for (const event of events) {
    const item = itemOf(event);
    const itemBytes = Buffer.byteLength(item) + 1;
    if (!open || open.length === USAGE_LIMITS.batchItemsMax || bytes + itemBytes > BATCH_BYTES_MAX) {
      [bytes, open] = [0, []];
      batches.push(open);
    }
    open.push(item);
    bytes += itemBytes;
  }
  return batches.map((items) => ({
    body: Buffer.from(`{"events":[${items.join(',')}]}`),
    count: items.length,
  }));
}

/** Room for what is around the items. */
const BATCH_BYTES_MAX = OWN_USAGE_BYTES_MAX - 64;

function itemOf({ value, properties, ...event }: OwnEvent): string {
  const more = properties === null ? {} : { properties: parseExact(properties) };
  return exactJson({ ...event, value: exactNumber(value), ...more });
}

type ItemResult =
  | { status: 'created' | 'duplicate'; eventId: string; event: unknown }
  | { status: 'error'; error: Rejection };

function resultsOf({ status, body }: OwnBatchResponse): WrittenEvent[] {
  const parsed = parseExact(body.toString()) as { results?: ItemResult[]; error?: Rejection };
  const { results, error } = parsed;
  if (status === 200 && results) return results.map(writtenOf);
  if (status === 503) throw new Transient('usage_not_written', error?.message ?? 'Usage is not taken now.');
  throw new Defect(`a batch of our own usage was rejected with ${error?.code ?? status}`);
}

function writtenOf(result: ItemResult): WrittenEvent {
  if (result.status !== 'error') {
    return { status: result.status, eventId: result.eventId, event: exactJson(result.event) };
  }
  const { error: rejection } = result;
  // The item could not be decided. What it says to clients holds here, too: the same again finds it out.
  if (rejection.code === 'unavailable') throw new Transient('usage_not_written', rejection.message);
  return { status: 'error', rejection };
}
