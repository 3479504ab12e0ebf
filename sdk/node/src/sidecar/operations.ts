import { ApiError } from '../client/api-error.ts';
import type { Entitlements } from '../entitlements/check.ts';
import { parseExactJson } from '../meter/exact-decimal.ts';
import type { QueueMeter } from '../meter/meter.ts';
import type { EventRejection, UsageEvent } from '../meter/usage-event.ts';
import { type LocalRequest, type LocalResponse, type Operation, RequestError } from './local-server.ts';

export interface SidecarParts {
  meter: Pick<QueueMeter, 'take' | 'flush' | 'stats'>;
  entitlements: Pick<Entitlements, 'check'>;
}

const EVENTS_MAX = 500;
const FLUSH_TIMEOUT_MS = 10_000;
const FLUSH_TIMEOUT_MS_MAX = 60_000;

/** What a program on this machine may ask for. */
export function operationsOf({ meter, entitlements }: SidecarParts): Operation[] {
  return [
    { method: 'POST', name: 'track', parts: 1, respond: (request) => track(meter, request) },
    { method: 'GET', name: 'check', parts: 3, respond: (request) => check(entitlements, request) },
    { method: 'POST', name: 'flush', parts: 1, respond: (request) => flush(meter, request) },
    {
      method: 'GET',
      name: 'healthz',
      parts: 1,
      respond: () => ({ status: 200, body: { status: 'ok', ...meter.stats() } }),
    },
  ];
}

type ItemError = EventRejection & { index: number };

/** 202 when anything was taken; else the status of the first error. */
async function track(meter: SidecarParts['meter'], request: LocalRequest): Promise<LocalResponse> {
  const events = eventsIn(await request.readJson());
  const errors: ItemError[] = [];
  for (const [index, event] of events.entries()) {
    const rejection = meter.take(event);
    if (rejection) errors.push({ index, ...rejection });
  }
  const body = { taken: events.length - errors.length, errors };
  const [first] = errors;
  if (!first || body.taken > 0) return { status: 202, body };
  if (!LATER.has(first.code)) return { status: 400, body };
  return { status: 503, body, headers: { 'retry-after': '1' } };
}

/** An event that may be sent again as it is. */
const LATER = new Set(['buffer_full', 'closed']);

/** A value keeps all of its digits; a property is a number as the API reads it. */
function eventsIn(text: string): UsageEvent[] {
  const exact = listIn(text, parseExactJson);
  return listIn(text, JSON.parse).map((event, at) => withValue(event, exact[at]));
}

function listIn(text: string, parse: (text: string) => unknown): unknown[] {
  let body: unknown;
  try {
    body = parse(text);
  } catch {
    throw new RequestError(400, 'invalid_json', 'The body is not JSON.');
  }
  if (!Array.isArray(body)) return [body];
  if (body.length <= EVENTS_MAX) return body;
  throw new RequestError(400, 'invalid_request', `A list has at most ${EVENTS_MAX} events.`);
}

/** What is no event at all is left for the meter to reject. */
function withValue(event: unknown, exact: unknown): UsageEvent {
  const { value } = (exact ?? {}) as { value?: unknown };
  const isObject = typeof event === 'object' && event !== null;
  return (isObject && typeof value === 'string' ? { ...event, value } : event) as UsageEvent;
}

async function check(
  entitlements: SidecarParts['entitlements'],
  request: LocalRequest,
): Promise<LocalResponse> {
  const [, customerId = '', featureKey = ''] = request.parts;
  const requested = request.query.get('requested');
  if (customerId === '' || featureKey === '') {
    throw new RequestError(404, 'not_found', 'Use /check/{customerId}/{featureKey}.');
  }
  try {
    const amount = requested === null ? {} : { requested };
    return { status: 200, body: await entitlements.check({ customerId, featureKey, ...amount }) };
  } catch (error) {
    throw error instanceof ApiError ? requestErrorOf(error) : error;
  }
}

/** What is wrong with the sidecar's own key is no fault of the request. */
function requestErrorOf({ status: given, code, message }: ApiError): RequestError {
  // What was never sent has no status.
  const status = given ?? (code === 'invalid_request' ? 400 : 502);
  const isOfSidecar = status < 400 || status === 401 || status === 403;
  return new RequestError(isOfSidecar ? 502 : status, code, message);
}

async function flush(meter: SidecarParts['meter'], { query }: LocalRequest): Promise<LocalResponse> {
  const timeoutMs = Number(query.get('timeoutMs') ?? FLUSH_TIMEOUT_MS);
  if (!(timeoutMs >= 0 && timeoutMs <= FLUSH_TIMEOUT_MS_MAX)) {
    const message = `\`timeoutMs\` must be a number from 0 to ${FLUSH_TIMEOUT_MS_MAX}.`;
    throw new RequestError(400, 'invalid_request', message);
  }
  return { status: 200, body: await meter.flush({ timeoutMs }) };
}
