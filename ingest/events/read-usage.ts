import type { RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { WrittenEvents } from '../engine/wasm/cloud-events.ts';
import { type EventOutcome, eventOutcomes } from './event-outcome.ts';
import type { EventsHead } from './events-head.ts';
import type { ListenersByType } from './listeners.ts';
import { readEvents } from './read-events.ts';
import type { SentEvents } from './sent-events.ts';
import { usageBatches } from './usage-batches.ts';
import type { BatchResult } from './usage-outcome.ts';

/** What a request of events comes to, before any of it is counted. */
export interface ReadUsage {
  isBatch: boolean;
  /** Of ordinary batches. */
  bodies: Buffer[];
  /** Nothing of it is rejected so far. */
  isValid: boolean;
  /** Events that no meter counts. */
  unmetered: number;
  /** Of each event, by the results of each batch. */
  outcomes(results: BatchResult[][]): EventOutcome[];
}

export function usageOf(
  sent: SentEvents,
  listeners: ListenersByType,
  { isStrict }: EventsHead,
): ReadUsage | { rejection: Rejection } {
  const { events, isValid, others } = sent.eventsFor(listeners);
  const usage = usageBatches(events, listeners);
  if ('rejection' in usage) return usage;
  const { batches, faults, unmetered } = usage;
  return {
    isBatch: sent.isBatch,
    bodies: batches.map(({ body }) => body),
    isValid: isValid && faults.size === 0,
    unmetered: unmetered + others,
    outcomes: (results) => eventOutcomes(events, { batches, faults, results, isStrict }),
  };
}

interface Common {
  head: EventsHead;
  headers: RequestHeaders;
  /** Its own copy, or one that is kept until the response. */
  body: Buffer;
  listeners: ListenersByType;
}

/** Of the common form: each event is valid and one item. They are read again only to tell of errors. */
export function usageOfCommon(
  { isArray, bodies }: WrittenEvents,
  { head, headers, body, listeners }: Common,
): ReadUsage {
  return {
    isBatch: isArray,
    bodies,
    isValid: true,
    unmetered: 0,
    outcomes(results) {
      const sent = readEvents(head.form, headers, body);
      if ('rejection' in sent) throw new Error(`events were written that are not: ${sent.rejection.message}`);
      const { events } = sent.eventsFor(listeners);
      const meterOf = events.map((event) => {
        return ('type' in event && listeners.get(event.type)?.[0]?.meterKey) || '';
      });
      const batch = { body, eventOf: events.map((_, place) => place), meterOf };
      const { isStrict } = head;
      return eventOutcomes(events, {
        ...{ batches: [batch], faults: new Map() },
        ...{ results: [results.flat()], isStrict },
      });
    },
  };
}
