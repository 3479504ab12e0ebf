import { type EventBatch, eventsOf } from './event-batch.ts';
import { type StoredCounts, storedCounts } from './ordinary-results.ts';
import type { HttpResponse } from './transport.ts';
import { type EventRejection, KEY_HEAD } from './usage-event.ts';

/** What a response says about the events of its request. */
export type Verdict =
  /** The server has all of them. */
  | ({ kind: 'stored' } & StoredCounts)
  /** Each event has its result, in order. */
  | { kind: 'processed'; results: ItemResult[] }
  /** All but this one may be sent again: it makes the whole request invalid. */
  | { kind: 'poison'; index: number; error: EventRejection }
  /** One of them, or their size, makes the whole request invalid: fewer at a time find it out. */
  | { kind: 'halve'; error: EventRejection }
  /** Nothing to do with the events: the key, or the address, is not the right one. */
  | { kind: 'unauthorised'; error: EventRejection }
  /** Not processed, or that is unknown. */
  | { kind: 'retry'; error: EventRejection; cause?: RetryCause };

/**
 * `changed`: what arrived was not what was sent. `failed`: the server could not process this very request,
 * which one of its events may be the reason of.
 */
export type RetryCause = 'changed' | 'failed';

/** `later`: the server could not store this one just now. */
export type ItemResult =
  | { status: 'created' | 'duplicate'; idempotencyKey: string }
  | { status: 'rejected' | 'later'; error: EventRejection };

/** Of an item: the server's own trouble. */
const LATER = new Set(['unavailable', 'overloaded', 'internal', 'rate_limited']);
/** Of a request, in which they say that its events are at fault. Other codes may be those of a proxy. */
const OF_EVENTS = new Set([
  ...['invalid_request', 'idempotency_key_missing', 'idempotency_key_invalid'],
  ...['value_invalid', 'event_too_old', 'event_in_future'],
]);
/** What the client has sent is JSON, and gzip where it says so. */
const CHANGED = new Set(['invalid_json', 'invalid_gzip']);
const TOO_LARGE = new Set(['payload_too_large', 'batch_too_large']);
/** What rejects even such a body for its size is not meant for events: that is a fault of people. */
const SMALL_BYTES = 16 * 1024;
const FAILED = new Set(['internal']);
/** The request was not processed, whatever its events are. */
const TRANSIENT = new Set([408, 425, 429]);

/** Anything but what this API returns is taken for the word of something in between, and is a `retry`. */
export function readVerdict(response: HttpResponse, events: EventBatch): Verdict {
  const { status } = response;
  const stored = status === 200 ? storedCounts(response.bytes, events) : undefined;
  if (stored) return { kind: 'stored', ...stored };
  const body = parsed(response.text);
  const error = errorOf(status, body);
  if (status === 200) {
    const results = resultsOf(body, eventsOf(events));
    return results ? { kind: 'processed', results } : { kind: 'retry', error: NO_RESULTS };
  }
  if (status === 401 || status === 403) return { kind: 'unauthorised', error };
  if (status === 413) {
    const isHalved = isOneOf(TOO_LARGE, body) || events.body.length > SMALL_BYTES;
    return { kind: isHalved ? 'halve' : 'unauthorised', error };
  }
  if (status === 500 && isOneOf(FAILED, body)) return { kind: 'retry', error, cause: 'failed' };
  if (TRANSIENT.has(status) || status < 400 || status >= 500) return { kind: 'retry', error };
  if (!isErrorBody(body)) return { kind: 'retry', error };
  // mutant: changed-body-rejects
  if (status === 400 && isOneOf(CHANGED, body)) return changed(error, events);
  const isOfEvents = (status === 400 || status === 422) && isOneOf(OF_EVENTS, body);
  if (!isOfEvents) return { kind: 'unauthorised', error };
  const index = indexIn(body.error);
  const isOne = index !== undefined && index < events.begins.length;
  return isOne ? { kind: 'poison', index, error } : { kind: 'halve', error };
}

/** A spool may hold what is no JSON: another client wrote it. */
function changed(error: EventRejection, events: EventBatch): Verdict {
  const index = eventsOf(events).findIndex((event) => parsed(event) === undefined);
  if (index >= 0) return { kind: 'poison', index, error };
  const message = `Something in between changes what is sent: ${error.message}`;
  return { kind: 'retry', error: { ...error, message }, cause: 'changed' };
}

const NO_RESULTS: EventRejection = {
  code: 'unexpected_response',
  message: 'The response has the status 200 and not the results of this request.',
};

interface ErrorBody {
  error: { code: string; message: string; requestId?: unknown; param?: unknown; details?: unknown };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  return typeof error?.code === 'string' && typeof error.message === 'string';
}

/** One of these, of an error of this API: all of those name their request. */
function isOneOf(codes: ReadonlySet<string>, body: unknown): boolean {
  return isErrorBody(body) && typeof body.error.requestId === 'string' && codes.has(body.error.code);
}

function errorOf(status: number, body: unknown): EventRejection {
  if (isErrorBody(body)) return rejectionOf(body.error);
  return {
    code: 'unexpected_response',
    message: `The response has the status ${status} and is not of this API.`,
  };
}

function rejectionOf({ code, message, param }: ErrorBody['error']): EventRejection {
  return { code, message, ...(typeof param === 'string' ? { param } : {}) };
}

/** Of the item that is named in `details.index`, or in a `param` like `events[3].value`. */
function indexIn({ param, details }: ErrorBody['error']): number | undefined {
  const named = (details as { index?: unknown } | undefined)?.index;
  if (typeof named === 'number' && Number.isInteger(named) && named >= 0) return named;
  const inParam = typeof param === 'string' ? /^events(?:\[(\d+)\]|\.(\d+))/.exec(param) : null;
  return inParam ? Number(inParam[1] ?? inParam[2]) : undefined;
}

/** Undefined unless there is one of a known status for each event, and about that event. */
function resultsOf(body: unknown, payloads: readonly string[]): ItemResult[] | undefined {
  const { results } = (body ?? {}) as { results?: unknown };
  // mutant: garbage-settled
  if (!Array.isArray(results) || results.length !== payloads.length) return undefined;
  const read = results.map((one: unknown, at) => resultOf(one, at, payloads[at] ?? ''));
  return read.every((one) => one !== undefined) ? read : undefined;
}

function resultOf(one: unknown, at: number, payload: string): ItemResult | undefined {
  const { index, status, idempotencyKey, error } = (one ?? {}) as Record<string, unknown>;
  if (index !== at || typeof idempotencyKey !== 'string') return undefined;
  const isStored = status === 'created' || status === 'duplicate';
  if (isStored) return isOf(payload, idempotencyKey) ? { status, idempotencyKey } : undefined;
  if (status !== 'error' || !isErrorBody({ error })) return undefined;
  const rejection = rejectionOf(error as ErrorBody['error']);
  // Of a key that is none the server may not repeat all.
  // mutant: errors-of-another-batch-reject
  if (!isOf(payload, idempotencyKey) && rejection.code !== 'idempotency_key_invalid') return undefined;
  return { status: LATER.has(rejection.code) ? 'later' : 'rejected', error: rejection };
}

/** A cache in between may return the results of another batch. */
function isOf(payload: string, idempotencyKey: string): boolean {
  // As the meter writes it. Whatever needs an escape in JSON is not found so.
  const end = KEY_HEAD.length + idempotencyKey.length;
  if (payload.startsWith(idempotencyKey, KEY_HEAD.length) && payload.startsWith(KEY_HEAD)) {
    if (payload.startsWith('",', end)) return true;
  }
  if (payload.includes(JSON.stringify(idempotencyKey))) return true;
  return (parsed(payload) as { idempotencyKey?: unknown } | undefined)?.idempotencyKey === idempotencyKey;
}
