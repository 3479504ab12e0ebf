import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { CloudEvent } from './cloud-event.ts';
import type { ListenersByType } from './listeners.ts';
import { passes, usageItem } from './usage-item.ts';
import type { UsageOutcome } from './usage-outcome.ts';

/** The usage of events, as bodies of ordinary batches. */
export interface EventsUsage {
  batches: UsageBatch[];
  /** What could not be made usage, by the place of the event. */
  faults: Map<number, UsageOutcome[]>;
  /** Valid events that no meter counts. */
  unmetered: number;
}

export interface UsageBatch {
  body: Buffer;
  /** Of each item, the place of its event, and the key of its meter. */
  eventOf: number[];
  meterOf: string[];
}

/** What one request may add up to: an event counts on every meter that listens to its type. */
export const USAGE_BYTES_MAX = 4 * USAGE_LIMITS.bodyBytesMax;
/** Of one batch: a character is at most three bytes. */
const ITEMS_CHARS_MAX = USAGE_LIMITS.bodyBytesMax / 3 - 64;

export function usageBatches(
  events: ReadonlyArray<CloudEvent | Rejection>,
  listeners: ListenersByType,
): EventsUsage | { rejection: Rejection } {
  const writer = new BatchWriter();
  const faults = new Map<number, UsageOutcome[]>();
  let unmetered = 0;
  for (const [place, event] of events.entries()) {
    if ('code' in event) continue;
    let counted = 0;
    for (const listener of listeners.get(event.type) ?? []) {
      if (!passes(event, listener)) continue;
      counted++;
      const item = usageItem(event, listener);
      if (typeof item === 'string') writer.add(item, place, listener.meterKey);
      else {
        const fault = { meterId: listener.meterKey, status: 'error' as const, error: item };
        faults.set(place, [...(faults.get(place) ?? []), fault]);
      }
    }
    if (counted === 0) unmetered++;
    if (writer.chars > USAGE_BYTES_MAX) return { rejection: TOO_MUCH };
  }
  const batches = writer.finished();
  const bytes = batches.reduce((sum, { body }) => sum + body.length, 0);
  return bytes > USAGE_BYTES_MAX ? { rejection: TOO_MUCH } : { batches, faults, unmetered };
}

const TOO_MUCH: Rejection = {
  code: 'batch_too_large',
  message: 'These events are more than 4 MiB of usage on the meters that count them. Send fewer at once.',
};

class BatchWriter {
  /** Of all items. */
  chars = 0;
  private readonly batches: UsageBatch[] = [];
  private items = '';
  private eventOf: number[] = [];
  private meterOf: string[] = [];

  add(item: string, place: number, meterKey: string): void {
    const count = this.eventOf.length;
    const isFull = count === USAGE_LIMITS.batchItemsMax || this.items.length + item.length > ITEMS_CHARS_MAX;
    if (isFull) this.flush();
    this.items += this.items === '' ? item : `,${item}`;
    this.chars += item.length;
    this.eventOf.push(place);
    this.meterOf.push(meterKey);
  }

  finished(): UsageBatch[] {
    this.flush();
    return this.batches;
  }

  private flush(): void {
    if (this.items === '') return;
    const { eventOf, meterOf } = this;
    this.batches.push({ body: Buffer.from(`{"events":[${this.items}]}`), eventOf, meterOf });
    this.items = '';
    this.eventOf = [];
    this.meterOf = [];
  }
}
