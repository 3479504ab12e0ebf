import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import type { BeginUsage } from '../begin-usage.ts';
import { type Admission, OVERLOADED } from '../http/admission.ts';
import type { ReadBody } from '../http/read-body.ts';
import type { UsageResponses } from '../http/usage-responses.ts';
import { createCommonEvents } from './common-events.ts';
import type { EventsHead } from './events-head.ts';
import { type EventsResponse, responseTo } from './events-response.ts';
import type { Listeners } from './listeners.ts';
import { readEvents } from './read-events.ts';
import { type ReadUsage, usageOf, usageOfCommon } from './read-usage.ts';
import type { BatchResult } from './usage-outcome.ts';

export interface CountEventsDeps {
  listeners: Listeners;
  admission: Admission;
  begin: BeginUsage;
  responses: UsageResponses;
  /** So many more usage events are durable, whatever the response will be. */
  created(count: number): void;
  /** They were responded to. */
  counted(response: EventsResponse): void;
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
 * are the same. Events of the common form are written so from their bytes; all others, at three times the
 * cost of an item of a batch, by way of objects.
 */
export function createCountEvents(deps: CountEventsDeps): CountEvents {
  const { listeners, responses } = deps;
  const writeCommon = createCommonEvents();

  function readCommon({ headers }: Exchange, { environment, head, whole }: Asked): ReadUsage | undefined {
    const known = listeners.known(environment);
    const written = known && writeCommon(head.form, whole.body, known);
    if (!written) return undefined;
    const body = whole.isKept ? whole.body : Buffer.from(whole.body);
    return usageOfCommon(written, { head, headers, body, listeners: known });
  }

  async function countOthers(exchange: Exchange, asked: Asked): Promise<void> {
    const { environment, head, whole } = asked;
    const sent = readEvents(head.form, exchange.headers, whole.body);
    if ('rejection' in sent) return responses.reject(exchange, sent.rejection);
    const found = listeners.find(environment, sent.types);
    const byType = found instanceof Promise ? await found : found;
    const usage = usageOf(sent, byType, head);
    if ('rejection' in usage) return responses.reject(exchange, usage.rejection);
    await count(deps, exchange, { ...asked, usage });
  }

  async function countAny(exchange: Exchange, asked: Asked): Promise<void> {
    const usage = readCommon(exchange, asked);
    await (usage ? count(deps, exchange, { ...asked, usage }) : countOthers(exchange, asked));
  }

  return (exchange, environment, head, whole) => {
    countAny(exchange, { environment, head, whole })
      .catch((error) => responses.fail(exchange, error))
      .finally(() => whole.release());
  };
}

interface Asked {
  environment: string;
  head: EventsHead;
  whole: ReadBody;
}

async function count(
  deps: CountEventsDeps,
  exchange: Exchange,
  { environment, head, usage }: Asked & { usage: ReadUsage },
): Promise<void> {
  const { admission, responses } = deps;
  const { bodies, isBatch, unmetered } = usage;
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
  if (!admission.take(environment, bytes)) return responses.reject(exchange, OVERLOADED);
  try {
    const { requestId } = exchange;
    const isRead = head.wantsResults || !usage.isValid || (head.isStrict && unmetered > 0);
    const committed = await commit(deps, bodies, { environment, requestId, isRead });
    if ('code' in committed) return responses.reject(exchange, committed);
    const isAllGood = usage.isValid && committed.itemErrors === 0;
    const outcomes = () => usage.outcomes(committed.results());
    const response = responseTo({ ...head, isBatch, requestId }, { isAllGood, unmetered, outcomes });
    send(exchange, response);
    deps.counted(response);
  } finally {
    admission.give(environment, bytes);
  }
}

interface ToCommit extends Pick<UsageRequest, 'environment' | 'requestId'> {
  /** The results of items will be read, also where none is an error. */
  isRead: boolean;
}

/** One after the other: of two events with the same key the first is the one that counts. */
async function commit(
  { begin, noSpace, created }: CountEventsDeps,
  bodies: readonly Buffer[],
  { isRead, ...of }: ToCommit,
): Promise<Committed | Rejection> {
  const responded: Buffer[] = [];
  let itemErrors = 0;
  for (const body of bodies) {
    const request = { ...of, body, ...A_BATCH };
    const done = await begun(begin, request, isRead || bodies.length > 1);
    if (done === 'no space') return noSpace;
    if (done.status !== 200) return (JSON.parse(done.body.toString()) as { error: Rejection }).error;
    responded.push(done.body);
    created(done.created);
    itemErrors += done.itemErrors;
  }
  return { itemErrors, results: () => responded.map(resultsIn) };
}

interface Committed {
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
function begun(begin: BeginUsage, request: UsageRequest, isRead: boolean): Promise<Done | 'no space'> {
  return new Promise((resolve, reject) => {
    begin(request, {
      respond(response, created) {
        const { status, itemErrors = 0 } = response;
        resolve({ status, created, itemErrors, body: keptBody(response, isRead) });
      },
      noSpace: () => resolve('no space'),
      fail: reject,
    });
  });
}

/** The engine uses its memory again. Where all of a batch are counted, mostly no result is read. */
function keptBody({ status, body, itemErrors = 0, release }: Response, isRead: boolean): Buffer {
  if (!release) return body;
  const kept = isRead || status !== 200 || itemErrors > 0 ? Buffer.from(body) : NOTHING;
  release();
  return kept;
}

const NOTHING = Buffer.alloc(0);

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
