import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { createRejectionLog } from '../platform/rejection-log.ts';
import { createRequestIds, type RequestIds } from '../platform/request-ids.ts';
import type { HttpFront, RequestHandler } from '../ports/http-front.ts';
import { createConnectionCount } from './connection-count.ts';
import { createDeadlines } from './deadlines.ts';
import type { FrontLimits } from './front-limits.ts';
import { handleSafely, rejectHeaders } from './handle-safely.ts';
import { HeaderList } from './header-list.ts';
import {
  framingOf,
  HEADER_LINE_BYTES,
  isTooLarge,
  REQUEST_LINE_BYTES,
  type RequestHead,
} from './request-head.ts';
import { createUnreadResponses } from './unread-responses.ts';
import { loadUws } from './uws-binary.ts';
import { UwsExchange } from './uws-exchange.ts';

/**
 * The public server over uWebSockets.js: 3 to 5 µs of CPU per request more than the bare library, a fourth of
 * the node:http front. Throws where the native binary does not load.
 *
 * What it does by itself, measured: silent and idle connections, dribbled header blocks and bodies below 16
 * KB/s are closed after 10 s in steps of 4 s (12 s seen). HTTP/1.0 and absolute targets get a 505, bad chunks
 * a 400, of the texts in corrected-uws.mjs. A request that is sent before the response to an earlier one on
 * the same connection closes the connection: responses are never mixed up. A chunk size may have a blank in
 * front, and any bytes in the place of a chunk's line end are skipped unseen: a proxy in front has to frame
 * bodies itself. Nothing is read behind a last chunk (corrected-uws.mjs), so that a connection ends with the
 * response to a request in chunks, and its trailer fields are ignored.
 */
export function createUwsFront(handler: RequestHandler, limits: FrontLimits, log: Logger): HttpFront {
  const uws = loadUws();
  const app = uws.App() as TemplatedApp & ListenWithOptions;
  const requestIds = createRequestIds();
  const rejections = createRejectionLog(log);
  const { headerBytesMax } = limits;
  const connections = createConnectionCount(limits.connectionsMax, log);
  const underway = createUnderway(limits);
  let listening: us_listen_socket | undefined;
  let closed: Promise<void> | undefined;

  app.filter(boundConnections);
  app.any('/*', (res, req) => {
    const head = readHead(req, requestIds);
    const framing = framingOf(head.headers);
    const exchange = new UwsExchange(res, head, underway, framing === 'chunked');
    underway.begins();
    // Closed without a response: the parser continues behind a request that has its response.
    // mutant: doubtful-framing-taken
    if (framing === 'ambiguous') exchange.breakOff();
    else if (isTooLarge(head, headerBytesMax)) rejectHeaders(exchange, headerBytesMax, rejections);
    else handleSafely(handler, requested(exchange), log);
    exchange.awaitBody();
  });

  /** Called when a connection opens (1) and closes (-1). */
  function boundConnections(res: HttpResponse, change: unknown): void {
    if (change !== 1) connections.closed();
    else if (!connections.opened()) res.close();
  }

  function listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      app.listen(host, port, EXCLUSIVE_PORT, (socket) => {
        if (socket === false) return reject(new Fatal('listen_failed', `cannot listen on ${host}:${port}`));
        listening = socket;
        resolve(uws.us_socket_local_port(socket));
      });
    });
  }

  async function closeAll(graceMs: number): Promise<void> {
    underway.closing = true;
    if (listening !== undefined) uws.us_listen_socket_close(listening);
    const timer = new AbortController();
    const tooLate = delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined);
    await Promise.race([underway.allOver(), tooLate]);
    timer.abort();
    app.close();
    underway.arriving.close();
    underway.stalled.close();
  }

  return {
    listen,
    close: (graceMs) => {
      closed ??= closeAll(graceMs);
      return closed;
    },
  };
}

/** A form of `listen` that the native app has and its declarations leave out. */
interface ListenWithOptions {
  listen(host: string, port: number, options: number, listener: ListenListener): void;
}

type ListenListener = (socket: us_listen_socket | false) => void;

/** Without this option a second process may listen on the same port and take half of the connections. */
const EXCLUSIVE_PORT = 1;

/** The native side sends `100 Continue` where the expectation is in lower case, and only then. */
function requested(exchange: UwsExchange): UwsExchange {
  const expectation = exchange.headers.get('expect');
  const isRequested = expectation === undefined || expectation === CONTINUE;
  if (!isRequested && expectation.toLowerCase() === CONTINUE) exchange.sendContinue();
  return exchange;
}

const CONTINUE = '100-continue';

/** `req` is valid in the handler's own turn only, so all of it is read. */
function readHead(req: HttpRequest, requestIds: RequestIds): RequestHead {
  const method = req.getCaseSensitiveMethod();
  const path = req.getUrl();
  // Undefined when there is no question mark, whatever the declarations state.
  const query = req.getQuery() ?? '';
  const headers = new HeaderList();
  let headerChars = method.length + path.length + query.length + REQUEST_LINE_BYTES;
  req.forEach((name, value) => {
    headerChars += name.length + value.length + HEADER_LINE_BYTES;
    headers.add(name, value);
  });
  const requestId = requestIds(headers.get('x-request-id'));
  return { method, path, query, headers, requestId, headerChars };
}

/** The requests without a response so far, and the memory they may use. */
function createUnderway({ bodyTimeoutMs, responseStallMs, unreadBytesMax }: FrontLimits) {
  let count = 0;
  let whenNone: (() => void) | undefined;

  return {
    closing: false,
    arriving: createDeadlines(bodyTimeoutMs),
    stalled: createDeadlines(responseStallMs),
    unread: createUnreadResponses(unreadBytesMax),
    begins: () => {
      count += 1;
    },
    isOver: () => {
      count -= 1;
      if (count === 0) whenNone?.();
    },
    allOver: () =>
      new Promise<void>((resolve) => {
        whenNone = resolve;
        if (count === 0) resolve();
      }),
  };
}
