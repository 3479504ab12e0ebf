import { METHODS } from 'node:http';
import { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { type Dispatcher, errors, Pool } from 'undici';
import type { Exchange } from '../infra/ports/http-front.ts';
import { ERROR_STATUS, type ErrorCode, errorBody } from '../schemas/error-codes.ts';
import { answerHeaders, forwardableTarget, requestHeaders } from './forwarded-headers.ts';

export interface Forwarder {
  forward(exchange: Exchange): void;
  /** Ends what is still under way. */
  close(): Promise<void>;
}

export interface ForwarderOptions {
  /** The control plane's URL; undefined while it is away. Asked each time: it may come back elsewhere. */
  target: () => string | undefined;
  log: Logger;
  timeouts?: ForwardTimeouts;
  /** Requests under way; a further one is answered 503 `overloaded`. */
  inFlightMax?: number;
}

export interface ForwardTimeouts {
  connectMs: number;
  /** From the request's last byte to the answer's headers. */
  headersMs: number;
  /** Between two pieces of the answer. */
  bodyMs: number;
}

/** A strong read waits up to 5 s and a large breakdown may take its time; a hanging control side must not. */
const FORWARD_TIMEOUTS: ForwardTimeouts = { connectMs: 1_000, headersMs: 30_000, bodyMs: 30_000 };
/** Each takes a connection of its own, so that one that hangs holds up no other. */
const IN_FLIGHT_MAX = 256;

/**
 * Passes every request that is not usage on to the control plane, bodies streamed both ways. What cannot be
 * delivered is answered 503 `unavailable`; an answer that breaks in the middle ends the client's connection.
 */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { target, log, timeouts = FORWARD_TIMEOUTS, inFlightMax = IN_FLIGHT_MAX } = options;
  const upstream = createUpstream({ timeouts, connectionsMax: inFlightMax, log });
  const reachable = createReachableNote(log);
  const limits = { headersTimeout: timeouts.headersMs, bodyTimeout: timeouts.bodyMs };
  let inFlight = 0;

  function forward(exchange: Exchange): void {
    const url = target();
    const path = forwardableTarget(exchange);
    if (inFlight >= inFlightMax) refuse(exchange, 'overloaded', OVERLOADED);
    else if (!METHODS.includes(exchange.method)) refuse(exchange, 'method_not_allowed', NO_METHOD);
    else if (url === undefined) refuse(exchange, 'unavailable', UNAVAILABLE);
    else if (path === undefined) refuse(exchange, 'invalid_request', NOT_FORWARDABLE);
    else send(exchange, url, path);
  }

  function send(exchange: Exchange, url: string, path: string): void {
    inFlight += 1;
    const body = hasBody(exchange) ? requestBody(exchange) : null;
    const relay = createRelay(exchange, (failure) => {
      inFlight -= 1;
      body?.destroy();
      reachable(failure);
    });
    const parts = { method: exchange.method as Dispatcher.HttpMethod, path, body };
    const headers = requestHeaders(exchange, body !== null);
    upstream(url).dispatch({ ...parts, headers, ...limits }, relay);
  }

  return { forward, close: () => upstream.close() };
}

const OVERLOADED = 'Too many requests are under way. Try again in a second.';
const UNAVAILABLE = 'The control plane cannot be reached at the moment. Try again in a second.';
const NO_METHOD = 'No path takes this method.';
const NOT_FORWARDABLE =
  'The method, the path or a header of this request holds characters that HTTP does not allow.';

function refuse(exchange: Exchange, code: ErrorCode, message: string): void {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (ERROR_STATUS[code] === 503) headers['retry-after'] = '1';
  exchange.respond(
    ERROR_STATUS[code],
    headers,
    Buffer.from(errorBody({ code, message }, exchange.requestId)),
  );
}

interface UpstreamOptions {
  timeouts: ForwardTimeouts;
  connectionsMax: number;
  log: Logger;
}

/** The connections to the URL in use. Those to an earlier one end with what is under way on them. */
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

/** One line in the log when the control plane goes away and one when it is back, not one per request. */
function createReachableNote(log: Logger): (failure: Error | undefined) => void {
  let away = false;
  return (failure) => {
    if (failure === undefined && away) log.info('the control plane answers again');
    if (failure !== undefined && !away) log.warn({ err: failure }, 'the control plane does not answer');
    away = failure !== undefined;
  };
}

function hasBody({ headers }: Exchange): boolean {
  return headers.has('transfer-encoding') || (headers.get('content-length') ?? '0') !== '0';
}

/** The client's body, read as the control plane takes it. */
function requestBody(exchange: Exchange): Readable {
  let begun = false;
  const body = new Readable({
    read: () => {
      if (begun) return exchange.resumeBody();
      begun = true;
      exchange.readBody(
        (chunk) => {
          if (!body.destroyed && !body.push(Buffer.from(chunk))) exchange.pauseBody();
        },
        () => {
          if (!body.destroyed) body.push(null);
        },
      );
    },
  });
  // Whoever breaks off the body tells the relay too.
  body.on('error', () => undefined);
  return body;
}

/** `over` is called once; with the failure when it was the control plane's. */
function createRelay(exchange: Exchange, over: (failure?: Error) => void): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined;
  let answering = false;
  exchange.onAborted(() => controller?.abort(new Error('the client is gone')));

  return {
    onRequestStart: (given) => {
      controller = given;
      if (exchange.aborted) given.abort(new Error('the client is gone'));
    },
    onResponseStart: (given, status, headers) => {
      if (status < 200) return;
      answering = true;
      exchange.begin(status, answerHeaders(headers));
      exchange.onDrain(() => given.resume());
    },
    onResponseData: (given, chunk) => {
      if (!exchange.write(chunk)) given.pause();
    },
    onResponseEnd: () => {
      exchange.end();
      over();
    },
    onResponseError: (_, error) => {
      const isClients = exchange.aborted || error instanceof errors.InvalidArgumentError;
      if (answering) exchange.breakOff();
      else if (error instanceof errors.InvalidArgumentError)
        refuse(exchange, 'invalid_request', NOT_FORWARDABLE);
      else refuse(exchange, 'unavailable', UNAVAILABLE);
      over(isClients ? undefined : error);
    },
  };
}
