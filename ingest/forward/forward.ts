import type { Logger } from 'pino';
import { type Dispatcher, errors, Pool } from 'undici';
import type { RejectionLog } from '../../infra/platform/rejection-log.ts';
import { SENT_METHOD } from '../../infra/platform/sent-method.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';
import { ERROR_STATUS, type Rejection } from '../../schemas/error-codes.ts';
import { rejectedRequest, sendRejection } from '../http/send-rejection.ts';
import type { ForwardMetrics } from '../metrics.ts';
import { type BodyBuffer, type BufferedBody, createBodyBuffer, TOO_SLOW } from './buffer-body.ts';
import { forwardableTarget, requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { createOutageLog } from './outage-log.ts';
import { createPlaces } from './places.ts';
import type { SenderOf } from './sender-of.ts';
import { isStream } from './stream-paths.ts';

export interface Forwarder {
  forward(exchange: Exchange): void;
  /** Ends the requests in flight. */
  close(): Promise<void>;
}

export interface ForwarderOptions {
  /**
   * The control plane's URL; undefined while it is unavailable. Read for each request: the port may change.
   */
  target: () => string | undefined;
  /** Rejects never. Default: no request has a secret key. */
  senderOf?: SenderOf;
  log: Logger;
  metrics?: ForwardMetrics;
  rejections?: RejectionLog;
  bodies?: BodyBuffer;
  timeouts?: ForwardTimeouts;
  /** Requests in flight; a further one gets 503 `overloaded`, those without a secret key earlier. */
  inFlightMax?: number;
  /** Responses that go on, in addition to those. */
  streamsMax?: number;
}

export interface ForwardTimeouts {
  connectMs: number;
  /** From the request's last byte to the response's headers. */
  headersMs: number;
  /** Between two pieces of the response. */
  bodyMs: number;
}

/** A strong read waits up to 5 s and a large breakdown may take its time; a hanging control side must not. */
const FORWARD_TIMEOUTS: ForwardTimeouts = { connectMs: 1_000, headersMs: 30_000, bodyMs: 30_000 };
/** Each takes a connection of its own, so that one that hangs holds up no other. */
const IN_FLIGHT_MAX = 512;
/** Feeds of entitlements, of which a control plane takes 6,000, and live usage. */
const STREAMS_MAX = 6_100;

/**
 * Passes every request that is not usage on to the control plane. A body is complete before its request takes
 * one of the places: a client that sends slowly holds none. The response is streamed. A request that cannot
 * be delivered gets 503 `unavailable`; a response that fails in the middle ends the client's connection.
 */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { target, senderOf = () => undefined, log, metrics, timeouts = FORWARD_TIMEOUTS } = options;
  const { inFlightMax = IN_FLIGHT_MAX, streamsMax = STREAMS_MAX, bodies = createBodyBuffer() } = options;
  const both = { timeouts, log, inFlightMax, streamsMax };
  const connections = createBothConnections(both, bodies, metrics);
  const reachable = createOutageLog(log);
  const limits = { headersTimeout: timeouts.headersMs, bodyTimeout: timeouts.bodyMs };
  const reject = createReject(options);

  function forward(exchange: Exchange): void {
    const path = forwardableTarget(exchange);
    if (connections.for(exchange).places.areAllTaken()) reject(exchange, BUSY);
    else if (target() === undefined) reject(exchange, CONTROL_PLANE_UNAVAILABLE);
    else if (path === undefined) reject(exchange, { code: 'invalid_request', message: NOT_FORWARDABLE });
    else if (hasBody(exchange)) void forwardWithBody(exchange, path);
    else forwardWithoutBody(exchange, path);
  }

  async function forwardWithBody(exchange: Exchange, path: string): Promise<void> {
    const environment = await senderOf(exchange);
    const buffered = await bodies.read(exchange, environment);
    if (buffered === 'aborted') return;
    if ('code' in buffered) reject(exchange, buffered);
    else send(exchange, { path, environment, buffered });
  }

  /** In this turn, where the key was used lately. */
  function forwardWithoutBody(exchange: Exchange, path: string): void {
    const proceed = (environment: string | undefined) => send(exchange, { path, environment });
    const sender = senderOf(exchange);
    if (sender instanceof Promise) void sender.then(proceed);
    else proceed(sender);
  }

  function send(exchange: Exchange, { path, environment, buffered }: Ready): void {
    const url = target();
    const wanted = { isStrangers: environment === undefined, hasBody: buffered !== undefined };
    const { places, upstream } = connections.for(exchange);
    const place = url === undefined ? undefined : places.take(wanted);
    if (url === undefined || place === undefined) {
      buffered?.release();
      reject(exchange, url === undefined ? CONTROL_PLANE_UNAVAILABLE : BUSY);
      return;
    }
    const relay = createRelay(exchange, {
      reject: (rejection) => reject(exchange, rejection),
      over(failure) {
        place.leave();
        buffered?.release();
        reachable(failure);
      },
    });
    const method = sentMethod(exchange);
    const headers = requestHeaders(exchange);
    if (method !== exchange.method) headers.push(SENT_METHOD, exchange.method);
    upstream(url).dispatch({ method, path, body: buffered?.body ?? null, headers, ...limits }, relay);
  }

  return { forward, close: connections.close };
}

/** Requests and responses that go on: neither takes a place or a connection of the other. */
function createBothConnections(
  { inFlightMax, streamsMax, ...options }: BothOptions,
  bodies: BodyBuffer,
  metrics: ForwardMetrics | undefined,
) {
  const ofRequests = createConnections({ ...options, connectionsMax: inFlightMax });
  const ofStreams = createConnections({ ...options, connectionsMax: streamsMax });
  metrics?.gauges({
    underWay: ofRequests.places.taken,
    streams: ofStreams.places.taken,
    heldBytes: bodies.heldBytes,
  });
  return {
    for: (exchange: Exchange) =>
      /* mutant: streams-among-requests */ isStream(exchange) ? ofStreams : ofRequests,
    close: async () => {
      await Promise.all([ofRequests, ofStreams].map(({ upstream }) => upstream.close()));
    },
  };
}

interface BothOptions extends Omit<UpstreamOptions, 'connectionsMax'> {
  inFlightMax: number;
  streamsMax: number;
}

/** As many as places, and none of them shared with the other kind. */
function createConnections(options: UpstreamOptions) {
  return { places: createPlaces(options.connectionsMax), upstream: createUpstream(options) };
}

function createReject({ metrics, rejections }: Pick<ForwarderOptions, 'metrics' | 'rejections'>) {
  return (exchange: Exchange, rejection: Rejection): void => {
    const status = respond(exchange, rejection);
    metrics?.rejected(rejection.code);
    rejections?.rejected(status, () => rejectedRequest(exchange, rejection.code));
  };
}

/** A request that can be sent on. */
interface Ready {
  path: string;
  /** Of its secret key; undefined without a valid one. */
  environment: string | undefined;
  buffered?: BufferedBody;
}

const OVERLOADED = 'Too many requests are in flight. Retry in a second.';
const UNAVAILABLE = 'The control plane is temporarily unavailable. Retry in a second.';
const NOT_FORWARDABLE =
  'The method, the path or a header of this request holds characters that HTTP does not allow.';

const BUSY: Rejection = { code: 'overloaded', message: OVERLOADED };
const CONTROL_PLANE_UNAVAILABLE: Rejection = { code: 'unavailable', message: UNAVAILABLE };

const HEADERS_TOO_LARGE: Rejection = {
  code: 'headers_too_large',
  message: 'The header block is larger than the control plane takes. Send fewer or shorter headers.',
};

/** How long a client whose body is not waited for has to read why. */
const GOODBYE_MS = 1_000;

function respond(exchange: Exchange, rejection: Rejection): number {
  const isTooSlow = rejection === TOO_SLOW;
  const status = sendRejection(exchange, rejection, isTooSlow ? { connection: 'close' } : {});
  if (isTooSlow) setTimeout(() => exchange.breakOff(), GOODBYE_MS).unref();
  return status;
}

interface UpstreamOptions {
  timeouts: ForwardTimeouts;
  connectionsMax: number;
  log: Logger;
}

/** The connections to the current URL. Those to an earlier one end with the requests in flight on them. */
function createUpstream({ timeouts, connectionsMax, log }: UpstreamOptions) {
  let current: { url: string; pool: Pool } | undefined;
  const open = new Set<Pool>();

  function retire(pool: Pool): void {
    const gone = pool.close().catch((err: unknown) => log.warn({ err }, 'connections did not close'));
    void gone.then(() => open.delete(pool));
  }

  function poolOf(url: string): Pool {
    if (current?.url === url) return current.pool;
    if (current !== undefined) retire(current.pool);
    const pool = new Pool(url, { connections: connectionsMax, connect: { timeout: timeouts.connectMs } });
    open.add(pool);
    current = { url, pool };
    return pool;
  }

  return Object.assign(poolOf, {
    close: async () => {
      await Promise.all([...open].map((pool) => pool.destroy()));
    },
  });
}

const FORWARDED = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** HTTP has it and no path takes it. */
const TAKEN_NOWHERE = 'LINK';

/**
 * The control plane rejects a method that no path takes, as it knows the version, the path and `Allow`. It
 * gets another method in its place, since the connection could not carry every one: CONNECT is no request to
 * a server, and others are not valid HTTP.
 */
function sentMethod({ method }: Exchange): Dispatcher.HttpMethod {
  return (FORWARDED.has(method) ? method : TAKEN_NOWHERE) as Dispatcher.HttpMethod;
}

function hasBody({ headers }: Exchange): boolean {
  return headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0';
}

/** Of the parser there, and of nothing else: it knows no more than that. */
const TOO_LARGE_STATUS = ERROR_STATUS.headers_too_large;

interface RelayEnds {
  reject(rejection: Rejection): void;
  /** Called once; with the failure when it was the control plane's. */
  over(failure?: Error): void;
}

function createRelay(exchange: Exchange, { reject, over }: RelayEnds): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined;
  let isResponding = false;
  exchange.onAborted(() => controller?.abort(new Error('the client disconnected')));

  return {
    onRequestStart: (given) => {
      controller = given;
      if (exchange.aborted) given.abort(new Error('the client disconnected'));
    },
    onResponseStart: (given, status, headers) => {
      if (status < 200 || status === TOO_LARGE_STATUS) return;
      isResponding = true;
      exchange.begin(status, responseHeaders(headers));
      exchange.onDrain(() => given.resume());
    },
    onResponseData: (given, chunk) => {
      if (isResponding && !exchange.write(chunk)) given.pause();
    },
    onResponseEnd: () => {
      if (isResponding) exchange.end();
      else reject(HEADERS_TOO_LARGE);
      over();
    },
    onResponseError: (_, error) => {
      const isClients = exchange.aborted || error instanceof errors.InvalidArgumentError;
      if (isResponding) exchange.breakOff();
      else if (error instanceof errors.InvalidArgumentError)
        reject({ code: 'invalid_request', message: NOT_FORWARDABLE });
      else reject(CONTROL_PLANE_UNAVAILABLE);
      over(isClients ? undefined : error);
    },
  };
}
