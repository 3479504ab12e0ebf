import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { type Admission, OVERLOADED } from '../http/admission.ts';
import type { ReadBody } from '../http/read-body.ts';
import type { UsageResponses } from '../http/usage-responses.ts';
import { eventOutcomes } from './event-outcome.ts';
import type { EventsHead } from './events-head.ts';
import { type EventsResponse, responseTo } from './events-response.ts';
import type { Listeners } from './listeners.ts';
import { readEvents } from './read-events.ts';
import type { SentEvents } from './sent-events.ts';
import { type UsageBatch, usageBatches } from './usage-batches.ts';
import type { BatchResult } from './usage-outcome.ts';

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
 * are the same. About 4 µs an event, three times an item of a batch: most of it is JSON, read and written.
 */
export function createCountEvents(deps: CountEventsDeps): CountEvents {
  const { listeners, admission, responses } = deps;

  async function count(
    exchange: Exchange,
    environment: string,
    head: EventsHead,
    sent: SentEvents,
  ): Promise<void> {
    const found = listeners.find(environment, sent.types);
    const byType = found instanceof Promise ? await found : found;
    const { events, isValid, others } = sent.eventsFor(byType);
    const usage = usageBatches(events, byType);
    if ('rejection' in usage) return responses.reject(exchange, usage.rejection);
    if (!admission.take(environment, usage.bytes)) return responses.reject(exchange, OVERLOADED);
    try {
      const { requestId } = exchange;
      const committed = await commit(deps, usage.batches, { environment, requestId });
      if ('code' in committed) return responses.reject(exchange, committed);
      const isAllGood = isValid && usage.faults.size === 0 && committed.itemErrors === 0;
      const unmetered = usage.unmetered + others;
      const outcomes = () => eventOutcomes(events, { ...usage, ...head, results: committed.results() });
      const { isBatch } = sent;
      const response = responseTo({ ...head, isBatch, requestId }, { isAllGood, unmetered, outcomes });
      send(exchange, response);
      deps.counted(response, committed.created);
    } finally {
      admission.give(environment, usage.bytes);
    }
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

/** One after the other: of two events with the same key the first is the one that counts. */
async function commit(
  { begin, noSpace }: CountEventsDeps,
  batches: readonly UsageBatch[],
  of: Pick<UsageRequest, 'environment' | 'requestId'>,
): Promise<Committed | Rejection> {
  const responded: Buffer[] = [];
  let created = 0;
  let itemErrors = 0;
  for (const { body } of batches) {
    const done = await begun(begin, { ...of, body, ...A_BATCH });
    if (done === 'no space') return noSpace;
    if (done.status !== 200) return (JSON.parse(done.body.toString()) as { error: Rejection }).error;
    responded.push(done.body);
    created += done.created;
    itemErrors += done.itemErrors;
  }
  return { created, itemErrors, results: () => responded.map(resultsIn) };
}

interface Committed {
  created: number;
  itemErrors: number;
  /** Of each batch. */
  results(): BatchResult[][];
}

const A_BATCH = { kind: 'batch', isBodyKept: true, includeEvents: false } as const;

interface Done {
  status: number;
  body: Buffer;
  created: number;
  itemErrors: number;
}

/** Resolves once its events are durable. */
function begun(begin: BeginUsage, request: UsageRequest): Promise<Done | 'no space'> {
  return new Promise((resolve, reject) => {
    begin(request, {
      respond(response, created) {
        const { status, itemErrors = 0 } = response;
        resolve({ status, created, itemErrors, body: keptBody(response) });
      },
      noSpace: () => resolve('no space'),
      fail: reject,
    });
  });
}

/** The engine uses its memory again. */
function keptBody({ body, release }: Response): Buffer {
  if (!release) return body;
  const kept = Buffer.from(body);
  release();
  return kept;
}

function resultsIn(body: Buffer): BatchResult[] {
  return (JSON.parse(body.toString()) as { results: BatchResult[] }).results;
}

function send(exchange: Exchange, { status, headers, body }: EventsResponse): void {
  if (status !== 204) exchange.respond(status, headers, Buffer.from(body));
  else {
    // It has no length.
    exchange.begin(status, Object.entries(headers));
    exchange.end();
  }
}
