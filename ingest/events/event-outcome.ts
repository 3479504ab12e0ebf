import type { Rejection } from '../../schemas/error-codes.ts';
import type { CloudEvent } from './cloud-event.ts';

/** What became of one usage event. */
export interface UsageOutcome {
  meterId: string;
  status: 'created' | 'duplicate' | 'error';
  eventId?: string;
  error?: Rejection;
}

/** What became of one event, and of what each meter counts of it. */
export interface EventOutcome {
  id?: string;
  source?: string;
  /** Why nothing of it was counted, where it never came to a meter. */
  error?: Rejection;
  usageEvents: UsageOutcome[];
}

export type EventStatus = 'created' | 'duplicate' | 'unmetered' | 'error';

/** `unmetered`: no meter counts it, and nothing of it is kept. */
export function statusOf({ error, usageEvents }: EventOutcome): EventStatus {
  if (error || usageEvents.some(({ status }) => status === 'error')) return 'error';
  if (usageEvents.length === 0) return 'unmetered';
  return usageEvents.some(({ status }) => status === 'created') ? 'created' : 'duplicate';
}

export function outcomeOf(event: CloudEvent | Rejection): EventOutcome {
  if ('code' in event) return { error: event, usageEvents: [] };
  return { id: event.id, source: event.source, usageEvents: [] };
}

/** The first error of an event. */
export function errorOf({ error, usageEvents }: EventOutcome): Rejection | undefined {
  return error ?? usageEvents.find((one) => one.error)?.error;
}

/** Errors of usage events, in the words of the event that they came from. */
export function inEventWords({ code, message, param }: Rejection): Rejection {
  const name = param === undefined ? undefined : (EVENT_NAMES[param] ?? param);
  const words = message.replace(/`(\w+)`/g, (whole, one: string) => {
    return EVENT_NAMES[one] === undefined ? whole : `\`${EVENT_NAMES[one]}\``;
  });
  return { code, message: words, ...(name === undefined ? {} : { param: name }) };
}

const EVENT_NAMES: Record<string, string> = {
  customerId: 'subject',
  occurredAt: 'time',
  idempotencyKey: 'id',
  value: 'data',
  properties: 'data',
};
