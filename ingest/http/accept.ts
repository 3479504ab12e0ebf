import type { KeyCache, StoredKey } from '../../domain/api-key-cache.ts';
import type { Response, UsageRequest } from '../../infra/ports/engine.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { BeginUsage, UsageReply } from '../begin-usage.ts';
import { createBufferPool } from '../buffer-pool.ts';
import { createCountEvents } from '../events/count-events.ts';
import { type EventsHead, readEventsHead } from '../events/events-head.ts';
import type { Listeners } from '../events/listeners.ts';
import type { Backfills } from '../registry.ts';
import type { Admission } from './admission.ts';
import { createAuthoriseUsage } from './authorise.ts';
import { type BodyOutcome, inflate, type ReadBody, readBody } from './read-body.ts';
import { readUsageHead, type UsageHead, type UsageOperation } from './usage-operation.ts';
import { createUsageResponses, type UsageResponses, type UsageResponsesDeps } from './usage-responses.ts';

export interface AcceptDeps extends UsageResponsesDeps {
  keys: KeyCache;
  admission: Admission;
  begin: BeginUsage;
  /** Of events of other formats. */
  listeners: Listeners;
  backfills: Backfills;
  /** True while the disk is nearly full. */
  isDiskLow: () => boolean;
}

/**
 * The path of a usage request, top-down. The response is true when it is sent: `created` and `duplicate` only
 * after their events are durable. Any other response means that nothing was stored, except a 503 after the
 * log or the keys failed, and of CloudEvents the batches before one that failed: the retry gets the true
 * result.
 */
export function createAccept(deps: AcceptDeps): (exchange: Exchange, operation: UsageOperation) => void {
  const { keys, admission, begin, listeners, backfills, metrics, isDiskLow } = deps;
  const authorise = createAuthoriseUsage(keys);
  const responses = createUsageResponses(deps);
  const { reject, fail } = responses;
  const countEvents = createCountEvents({
    ...{ listeners, admission, begin, responses, noSpace: DISK_LOW },
    created: metrics.eventsCreated,
    counted: metrics.eventsCounted,
  });
  const pools = { admission, buffers: createBufferPool(BUFFERS_BYTES_MAX), bytesMax: BODY_BYTES_MAX };

  function accept(exchange: Exchange, operation: UsageOperation): void {
    try {
      const key = authorise(exchange);
      if (!(key instanceof Promise)) receive(exchange, operation, key);
      else key.then((found) => receive(exchange, operation, found)).catch((error) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  }

  function receive(exchange: Exchange, operation: UsageOperation, key: StoredKey | Rejection): void {
    const head = 'code' in key ? key : readHead(exchange, operation);
    if ('code' in key) reject(exchange, key);
    else if ('code' in head) reject(exchange, head);
    else if (isDiskLow()) reject(exchange, DISK_LOW);
    else if (head.kind === 'events' || head.backfillId === undefined) {
      readWhole(exchange, { environment: key.environment }, head);
    } else {
      placeOf(backfills, key.environment, head.backfillId)
        .then((place) => ('code' in place ? reject(exchange, place) : readWhole(exchange, place, head)))
        .catch((error) => fail(exchange, error));
    }
  }

  function readWhole(exchange: Exchange, place: UsagePlace, head: UsageHead | EventsHead): void {
    const { environment } = place;
    const use = (whole: BodyOutcome) =>
      'code' in whole ? reject(exchange, whole) : store(exchange, place, head, whole);
    readBody(exchange, environment, pools, (read) => {
      if ('code' in read || !head.gzip) use(read);
      else
        inflate(read, environment, pools)
          .then(use)
          .catch((error) => fail(exchange, error));
    });
  }

  function store(exchange: Exchange, place: UsagePlace, head: UsageHead | EventsHead, whole: ReadBody): void {
    if (head.kind === 'events') countEvents(exchange, place.environment, head, whole);
    else {
      const request = requestOf(exchange, place, head, whole);
      begin(request, new ExchangeReply(exchange, request, whole, responses));
    }
  }

  return accept;
}

function readHead(exchange: Exchange, operation: UsageOperation): UsageHead | EventsHead | Rejection {
  if (operation === 'events' || operation === 'logs') return readEventsHead(exchange, operation);
  return readUsageHead(exchange, operation);
}

/** A class because one is made for every request, and hundreds wait for their flush at a time. */
class ExchangeReply implements UsageReply {
  private readonly exchange: Exchange;
  private readonly request: UsageRequest;
  private readonly whole: ReadBody;
  private readonly responses: UsageResponses;

  constructor(exchange: Exchange, request: UsageRequest, whole: ReadBody, responses: UsageResponses) {
    this.exchange = exchange;
    this.request = request;
    this.whole = whole;
    this.responses = responses;
  }

  respond(response: Response, created: number): void {
    this.responses.respond(this.exchange, this.request, response, created);
    this.whole.release();
  }

  noSpace(): void {
    this.responses.reject(this.exchange, DISK_LOW);
    this.whole.release();
  }

  fail(error: unknown): void {
    this.responses.fail(this.exchange, error);
    this.whole.release();
  }
}

/** Member by member: an object that is spread costs a microsecond, and a single event has two. */
function requestOf(
  { requestId }: Exchange,
  { environment, change }: UsagePlace,
  { kind, includeEvents, idempotencyKey, isStrict, numbersAsText }: UsageHead,
  { body, isKept: isBodyKept }: ReadBody,
): UsageRequest {
  return {
    environment,
    kind,
    body,
    isBodyKept,
    idempotencyKey,
    includeEvents,
    isStrict,
    numbersAsText,
    change,
    requestId,
  };
}

type UsagePlace = Pick<UsageRequest, 'environment' | 'change'>;

/** Of usage of a backfill, where that is open. Throws Transient. */
async function placeOf(
  backfills: Backfills,
  environment: string,
  backfillId: string,
): Promise<UsagePlace | Rejection> {
  const found = await backfills.findBackfill(environment, backfillId);
  return typeof found === 'number' ? { environment, change: { number: found, voids: false } } : found;
}

const BODY_BYTES_MAX = USAGE_LIMITS.bodyBytesMax;
/** That is kept for bodies to come. */
const BUFFERS_BYTES_MAX = 16 * 1024 * 1024;

const DISK_LOW: Rejection = {
  code: 'unavailable',
  message: 'The disk is nearly full; nothing of this request was stored. Send it again later.',
};
