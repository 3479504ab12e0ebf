import type { Rejection } from '../../schemas/error-codes.ts';
import type { CloudEvent } from './cloud-event.ts';
import type { EventsUsage } from './usage-batches.ts';
import type { BatchResult, UsageOutcome } from './usage-outcome.ts';

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

/** The first error of an event. */
export function errorOf({ error, usageEvents }: EventOutcome): Rejection | undefined {
  return error ?? usageEvents.find((one) => one.error)?.error;
}

interface Counted extends Pick<EventsUsage, 'batches' | 'faults'> {
  /** Of each batch, by item. */
  results: BatchResult[][];
  /** An event that no meter counts is an error. */
  isStrict: boolean;
}

/** Of each event, in order. */
export function eventOutcomes(
  events: ReadonlyArray<CloudEvent | Rejection>,
  { batches, faults, results, isStrict }: Counted,
): EventOutcome[] {
  const outcomes = events.map((event, place): EventOutcome => {
    if ('code' in event) return { error: event, usageEvents: [] };
    return { id: event.id, source: event.source, usageEvents: [...(faults.get(place) ?? [])] };
  });
  for (const [batch, { eventOf, meterOf }] of batches.entries()) {
    for (const [item, place] of eventOf.entries()) {
      const result = results[batch]?.[item];
      const meterId = meterOf[item];
      if (result && meterId !== undefined) outcomes[place]?.usageEvents.push(usageOutcome(meterId, result));
    }
  }
  for (const outcome of isStrict ? outcomes : []) {
    if (statusOf(outcome) === 'unmetered') outcome.error = UNMETERED;
  }
  return outcomes;
}

const UNMETERED: Rejection = {
  code: 'meter_not_found',
  message: 'No meter counts events of this type, or the filters of none let it pass.',
  param: 'type',
};

function usageOutcome(meterId: string, { status, eventId, error }: BatchResult): UsageOutcome {
  return {
    meterId,
    status,
    ...(eventId === undefined ? {} : { eventId }),
    ...(error === undefined ? {} : { error: inEventWords(error) }),
  };
}

/** Errors of usage events, in the words of the event that they came from. */
function inEventWords({ code, message, param }: Rejection): Rejection {
  const words = message.replace(/`(\w+)`/g, (whole, name: string) => {
    const own = EVENT_NAMES.get(name);
    return own === undefined ? whole : `\`${own}\``;
  });
  return { code, message: words, ...(param === undefined ? {} : { param: EVENT_NAMES.get(param) ?? param }) };
}

const EVENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['customerId', 'subject'],
  ['occurredAt', 'time'],
  ['idempotencyKey', 'id'],
  ['value', 'data'],
  ['properties', 'data'],
]);
