import { Defect } from '../../schemas/failures.ts';
import type { WaitingBounds, WaitingEventRow } from '../store/processor-events.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** An event of the processor that waits here. */
export interface KeptEvent {
  event: SubscriptionEvent;
  receivedAt: Date;
  /** Null where no part of it was applied; otherwise only its items wait for a mapping. */
  appliedAt: Date | null;
}

/**
 * A shared processor account may send events that never match. Each event shows the whole subscription, so
 * the newest of many are sufficient. Dropped events are counted, and shown with their reason.
 */
export const WAITING_BOUNDS: WaitingBounds = {
  ofSubscription: 20,
  ofEnvironment: 10_000,
  bytesOfEnvironment: 32 * 1024 * 1024,
};

/** Of the stored form. */
const VERSION = 1;

export function keptText(event: SubscriptionEvent): string {
  return JSON.stringify({ version: VERSION, ...event });
}

export function keptEvent({ reading, receivedAt, appliedAt }: Omit<WaitingEventRow, 'id'>): KeptEvent {
  return { event: readingOf(reading), receivedAt, appliedAt };
}

export function readingOf(text: string): SubscriptionEvent {
  const { version, ...event } = JSON.parse(text) as { version: number } & SubscriptionEvent;
  if (version !== VERSION) throw new Defect(`an event of the processor is kept in version ${version}`);
  return event;
}
