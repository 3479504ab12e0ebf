import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { CloudEvent } from './cloud-event.ts';
import { type EventOutcome, outcomeOf, type UsageOutcome } from './event-outcome.ts';
import type { ListenersByType } from './listeners.ts';
import { passes, usageItem } from './usage-item.ts';

/** A batch of usage, and where the result of each of its items goes. */
export interface UsageBatch {
  body: Buffer;
  outcomes: UsageOutcome[];
}

/** What one request may add up to: an event counts on every meter that listens to its type. */
const BYTES_MAX = 4 * USAGE_LIMITS.bodyBytesMax;
/** Of a batch: its head and its end are in the rest. */
const ITEMS_BYTES_MAX = USAGE_LIMITS.bodyBytesMax - 64;

/** The usage of events, as bodies of ordinary batches, and what is known of each event already. */
export function usageBatches(
  events: ReadonlyArray<CloudEvent | Rejection>,
  listeners: ListenersByType,
): { outcomes: EventOutcome[]; batches: UsageBatch[]; bytes: number } | { rejection: Rejection } {
  const batches = new BatchWriter();
  const outcomes: EventOutcome[] = [];
  for (const event of events) {
    const outcome = outcomeOf(event);
    outcomes.push(outcome);
    if ('code' in event) continue;
    for (const listener of listeners.get(event.type) ?? []) {
      if (!passes(event, listener)) continue;
      const item = usageItem(event, listener);
      const { meterKey: meterId } = listener;
      if (typeof item !== 'string') outcome.usageEvents.push({ meterId, status: 'error', error: item });
      else outcome.usageEvents.push(batches.add(item, meterId));
    }
    if (batches.bytes > BYTES_MAX) return { rejection: TOO_MUCH };
  }
  return { outcomes, batches: batches.finished(), bytes: batches.bytes };
}

const TOO_MUCH: Rejection = {
  code: 'batch_too_large',
  message: 'These events are more than 4 MiB of usage on the meters that count them. Send fewer at once.',
};

class BatchWriter {
  bytes = 0;
  private readonly batches: UsageBatch[] = [];
  private items: string[] = [];
  private itemsBytes = 0;
  private outcomes: UsageOutcome[] = [];

  add(item: string, meterId: string): UsageOutcome {
    const bytes = Buffer.byteLength(item) + 1;
    const isFull = this.items.length === USAGE_LIMITS.batchItemsMax;
    if (isFull || this.itemsBytes + bytes > ITEMS_BYTES_MAX) this.flush();
    this.bytes += bytes;
    this.itemsBytes += bytes;
    this.items.push(item);
    const outcome: UsageOutcome = { meterId, status: 'error' };
    this.outcomes.push(outcome);
    return outcome;
  }

  finished(): UsageBatch[] {
    this.flush();
    return this.batches;
  }

  private flush(): void {
    if (this.items.length === 0) return;
    const body = Buffer.from(`{"events":[${this.items.join(',')}]}`);
    this.batches.push({ body, outcomes: this.outcomes });
    this.items = [];
    this.itemsBytes = 0;
    this.outcomes = [];
  }
}
