import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { BeginUsage, UsageReply } from '../begin-usage.ts';
import { type Admission, OVERLOADED } from '../http/admission.ts';
import type { ReadBody } from '../http/read-body.ts';
import type { UsageResponses } from '../http/usage-responses.ts';
import { type EventOutcome, inEventWords, type UsageOutcome } from './event-outcome.ts';
import type { EventsHead } from './events-head.ts';
import { type EventsResponse, resultsResponse, statusResponse } from './events-response.ts';
import type { Listeners } from './listeners.ts';
import { readEvents, type SentEvents } from './read-events.ts';
import { type UsageBatch, usageBatches } from './usage-batches.ts';

export interface CountEventsDeps {
  listeners: Listeners;
  admission: Admission;
  begin: BeginUsage;
  responses: UsageResponses;
  /** That were responded to. */
  counted(response: EventsResponse, created: number): void;
  /** What is sent where the disk is full. */
  noSpace: Rejection;
}

/** Takes a request of events whose body is whole. Never throws; the body is released with the response. */
export type CountEvents = (
  exchange: Exchange,
  environment: string,
  head: EventsHead,
  whole: ReadBody,
) => void;

/**
 * Counts CloudEvents: each becomes one usage event on every meter that listens to its type. They are written
 * as ordinary batches, which the engine takes like those of any client; so identity, limits and durability
 * are the same.
 */
export function createCountEvents(deps: CountEventsDeps): CountEvents {
  const { listeners, admission, begin, responses } = deps;

  async function count(
    exchange: Exchange,
    environment: string,
    head: EventsHead,
    sent: SentEvents,
  ): Promise<void> {
    const types = new Set(sent.events.flatMap((event) => ('code' in event ? [] : [event.type])));
    const found = listeners.find(environment, types);
    const all = found instanceof Promise ? await found : found;
    const usage = usageBatches(sent.events, all);
    if ('rejection' in usage) return responses.reject(exchange, usage.rejection);
    if (!admission.take(environment, usage.bytes)) return responses.reject(exchange, OVERLOADED);
    try {
      const created = await commit(exchange, { environment, head, batches: usage.batches });
      if (typeof created !== 'number') return responses.reject(exchange, created);
      if (head.isStrict) rejectUnmetered(usage.outcomes);
      respond(exchange, head, { ...usage, created, isBatch: sent.isBatch });
    } finally {
      admission.give(environment, usage.bytes);
    }
  }

  /** One after the other: of two events with the same key the first is the one that counts. */
  async function commit(
    { requestId }: Exchange,
    { environment, head, batches }: { environment: string; head: EventsHead; batches: readonly UsageBatch[] },
  ): Promise<number | Rejection> {
    let created = 0;
    for (const { body, outcomes } of batches) {
      const request = { environment, body, requestId, ...A_BATCH };
      const done = await begun(begin, request, (response) => {
        const isAllGood = response.status === 200 && response.itemErrors === 0;
        if (head.wantsResults || !isAllGood) return takeResults(response, outcomes);
        // Nobody asks which of them were created.
        response.release?.();
        for (const outcome of outcomes) outcome.status = 'duplicate';
        return undefined;
      });
      if (done === 'no space') return deps.noSpace;
      if (typeof done !== 'number') return done;
      created += done;
    }
    return created;
  }

  function respond(exchange: Exchange, head: EventsHead, counted: Counted): void {
    const { outcomes, created, isBatch } = counted;
    const { requestId } = exchange;
    const response = head.wantsResults
      ? resultsResponse(outcomes)
      : statusResponse(outcomes, { isBatch, requestId });
    const { status, headers, body } = response;
    // A 204 has no length.
    if (status === 204) {
      exchange.begin(status, Object.entries(headers));
      exchange.end();
    } else exchange.respond(status, headers, Buffer.from(body));
    deps.counted(response, created);
  }

  return (exchange, environment, head, whole) => {
    const sent = readEvents(head.form, exchange.headers, whole.body);
    if ('rejection' in sent) {
      responses.reject(exchange, sent.rejection);
      whole.release();
      return;
    }
    count(exchange, environment, head, sent)
      .catch((error) => responses.fail(exchange, error))
      .finally(() => whole.release());
  };
}

interface Counted {
  outcomes: EventOutcome[];
  created: number;
  isBatch: boolean;
}

const A_BATCH = { kind: 'batch', isBodyKept: true, includeEvents: false } as const;

/** How many events were created, once they are durable; or why the batch as a whole was rejected. */
function begun(
  begin: BeginUsage,
  request: UsageRequest,
  take: (response: Response) => Rejection | undefined,
): Promise<number | 'no space' | Rejection> {
  return new Promise((resolve, reject) => {
    const reply: UsageReply = {
      respond(response, created) {
        try {
          resolve(take(response) ?? created);
        } catch (error) {
          reject(error);
        }
      },
      noSpace: () => resolve('no space'),
      fail: reject,
    };
    begin(request, reply);
  });
}

interface BatchResults {
  error?: Rejection;
  results: Array<{ status: UsageOutcome['status']; eventId?: string; error?: Rejection }>;
}

/** The results of a batch, each to its usage event. A rejection where the batch has none. */
function takeResults(
  { status, body, release }: Response,
  outcomes: readonly UsageOutcome[],
): Rejection | undefined {
  const { error, results } = JSON.parse(body.toString()) as BatchResults;
  release?.();
  if (status !== 200) return error;
  results.forEach((result, index) => {
    const outcome = outcomes[index];
    if (!outcome) return;
    outcome.status = result.status;
    if (result.eventId !== undefined) outcome.eventId = result.eventId;
    if (result.error) outcome.error = inEventWords(result.error);
  });
  return undefined;
}

function rejectUnmetered(outcomes: readonly EventOutcome[]): void {
  for (const outcome of outcomes) {
    if (!outcome.error && outcome.usageEvents.length === 0) outcome.error = UNMETERED;
  }
}

const UNMETERED: Rejection = {
  code: 'meter_not_found',
  message: 'No meter counts events of this type, or the filters of none let it pass.',
  param: 'type',
};
