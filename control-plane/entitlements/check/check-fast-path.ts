import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { KeyCache, StoredKey } from '../../../domain/api-key-cache.ts';
import type { FirstCallStamp } from '../../../domain/first-call-stamp.ts';
import type { LastUsedStamp } from '../../../domain/last-used-stamp.ts';
import { createRequestIds } from '../../../infra/platform/request-ids.ts';
import type { Clock } from '../../../infra/ports/clock.ts';
import { API_VERSION, type Route } from '../../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../../schemas/routes.ts';
import { EVERY_SCOPE } from '../../../schemas/scopes.ts';
import type { RateLimitFields, TakeRequest } from '../../http/rate-limit.ts';
import { keepBody } from '../../http/read-body.ts';
import type { HttpMetrics } from '../../metrics.ts';

/** The response of an operation as JSON, if the cache has all its data; else undefined. */
export type CachedResponse = (
  requested: { environment: string; nowMs: number },
  input: CachedInput,
) => string | undefined;

/** Unchecked input. */
export interface CachedInput {
  params: Record<string, string>;
  /** '' of a GET. */
  bodyText: string;
}

export type CachedResponses = Partial<Record<OperationId, CachedResponse>>;

export interface CheckFastPathDeps {
  responses: CachedResponses;
  keys: KeyCache;
  takeRequest: TakeRequest;
  firstCalls: FirstCallStamp;
  lastUsed: LastUsedStamp;
  clock: Clock;
  metrics: HttpMetrics;
}

/**
 * In front of the app: responds to requests that need no store and have one possible response. Such a request
 * has no query, its body arrived complete in the first chunk, its key was read within the last seconds and
 * has the scope, and the cache has its data. Every other request goes to `next` unchanged and uncounted:
 * only the app rejects requests. Both paths give the same response; the fast path takes half as long.
 */
export function createCheckFastPath(deps: CheckFastPathDeps, next: RequestListener): RequestListener {
  const { metrics } = deps;
  const responseOf = createResponseOf(deps);
  const requestIds = createRequestIds();
  const operations = operationsOf(deps.responses);

  function respond(request: IncomingMessage, response: ServerResponse, found: FoundOperation): void {
    const startedMs = performance.now();
    const body = request.complete ? (request.read() as Buffer | null) : null;
    const cached = responseOf(request, found, body);
    if (cached === undefined) {
      if (body) keepBody(request, body);
      next(request, response);
      return;
    }
    send(response, requestIds(request.headers['x-request-id'] as string | undefined), cached);
    metrics.responded(found.value.operationId, OK, performance.now() - startedMs);
  }

  return (request, response) => {
    const found = findOperation(operations, request);
    if (!found) return next(request, response);
    // The app serves requests for other number formats and other preferences, and those of browsers' pages.
    if (request.headers.prefer !== undefined || request.headers.origin !== undefined) {
      return next(request, response);
    }
    if (request.method === 'GET') return respond(request, response, found);
    if (!hasPlainBody(request)) return next(request, response);
    // By then a body that was sent together with its head has arrived.
    setImmediate(respond, request, response, found);
  };
}

const OK = 200;
const NO_FIELDS: string[] = [];

interface FastOperation {
  operationId: string;
  route: Route;
  /** A path without percent-encoding and without a query. */
  path: RegExp;
  names: string[];
  response: CachedResponse;
}

interface FoundOperation {
  value: FastOperation;
  params: Record<string, string>;
}

function operationsOf(responses: CachedResponses): FastOperation[] {
  return Object.entries(responses).map(([operationId, response]) => {
    const route: Route = ROUTES[operationId as OperationId];
    const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const path = new RegExp(`^${route.path.replace(/\{\w+\}/g, '([^/?#%]+)')}$`);
    return { operationId, route, path, names, response };
  });
}

/** For two or three operations a list of patterns is quicker than a tree of segments. */
function findOperation(
  operations: FastOperation[],
  { method, url = '' }: IncomingMessage,
): FoundOperation | undefined {
  for (const value of operations) {
    const match = value.route.method === method ? value.path.exec(url) : null;
    if (!match) continue;
    const params: Record<string, string> = {};
    for (let at = 0; at < value.names.length; at += 1) params[value.names[at] ?? ''] = match[at + 1] ?? '';
    return { value, params };
  }
  return undefined;
}

interface FastResponse {
  text: string;
  limit: RateLimitFields | undefined;
}

function createResponseOf({ keys, takeRequest, firstCalls, lastUsed, clock }: CheckFastPathDeps) {
  return (
    request: IncomingMessage,
    { value, params }: FoundOperation,
    body: Buffer | null,
  ): FastResponse | undefined => {
    const key = keyOf(request, keys);
    if (!key || !isAllowed(key, value.route)) return undefined;
    if (value.route.method !== 'GET' && !(body && isUtf8(body))) return undefined;
    const nowMs = clock.nowMs();
    const text = value.response(
      { environment: key.environment, nowMs },
      { params, bodyText: body?.toString() ?? '' },
    );
    const caller = { kind: key.kind, actor: key.id };
    if (text === undefined || takeRequest(caller) > 0) return undefined;
    firstCalls.saw(key.environment);
    lastUsed.saw(key.id, nowMs);
    return { text, limit: takeRequest.fields(caller) };
  };
}

const BEARER = 'Bearer ';

/**
 * The key is in the usual header and was read recently enough that no store is needed and no rejection is
 * due.
 */
function keyOf({ headers }: IncomingMessage, keys: KeyCache): StoredKey | undefined {
  const { authorization } = headers;
  if (!authorization?.startsWith(BEARER) || headers['x-api-key'] !== undefined) return undefined;
  return keys.known(authorization.slice(BEARER.length));
}

function isAllowed({ kind, scopes }: StoredKey, { access }: Route): boolean {
  return kind === 'secret' && (scopes.includes(access) || scopes.includes(EVERY_SCOPE));
}

const BODY_BYTES_MAX = 16_384;

/** Plain JSON: no Idempotency-Key, no Content-Encoding, no strict handling. */
function hasPlainBody({ headers }: IncomingMessage): boolean {
  const { 'content-type': type, 'content-length': length = '0', 'transfer-encoding': transfer } = headers;
  const { 'idempotency-key': key, 'content-encoding': encoding } = headers;
  if (type !== 'application/json' || transfer !== undefined || Number(length) > BODY_BYTES_MAX) return false;
  return key === undefined && encoding === undefined;
}

/**
 * Without the guards (schemas/http/response-guards.ts), which the public port adds where they are missing.
 */
function send(response: ServerResponse, requestId: string, { text, limit }: FastResponse): void {
  const bytes = Buffer.byteLength(text);
  response.writeHead(OK, [
    ...(limit ? Object.entries(limit).flat() : NO_FIELDS),
    'X-Request-Id',
    requestId,
    'X-API-Version',
    API_VERSION,
    'Content-Type',
    'application/json',
    'Content-Length',
    String(bytes),
  ]);
  // ASCII has as many bytes as characters, so it needs no encoding.
  response.write(text, bytes === text.length ? 'latin1' : 'utf8');
  // `end` with the text would send an empty piece behind it, and two pieces take a slower call than one: a
  // fourteenth of the cost of a check.
  response.socket?.uncork();
  response.end();
}
