import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Fatal } from '../../schemas/failures.ts';
import { createRejectionLog } from '../platform/rejection-log.ts';
import { createRequestIds, type RequestIds } from '../platform/request-ids.ts';
import type { HttpFront, RequestHandler } from '../ports/http-front.ts';
import type { FrontLimits } from './front-limits.ts';
import { handleSafely, rejectHeaders } from './handle-safely.ts';
import { HeaderList } from './header-list.ts';
import { NodeExchange } from './node-exchange.ts';
import { parserRejection } from './parser-rejection.ts';
import { HEADER_LINE_BYTES, isTooLarge, REQUEST_LINE_BYTES, type RequestHead } from './request-head.ts';
import { createUnreadResponses } from './unread-responses.ts';

/**
 * The counterpart of the native front, over node:http, for machines where the native binary does not load.
 */
export function createNodeFront(handler: RequestHandler, limits: FrontLimits, log: Logger): HttpFront {
  const requestIds = createRequestIds();
  const rejections = createRejectionLog(log);
  /**
   * Connections that have carried a request: a response may be in progress, so no error is written between.
   */
  const used = new WeakSet<Duplex>();
  const unread = createUnreadResponses(limits.unreadBytesMax);
  const server = createServer(serverOptions(limits), serve);

  function serve(req: IncomingMessage, res: ServerResponse): void {
    used.add(req.socket);
    const head = readHead(req, requestIds);
    const { responseStallMs, headerBytesMax } = limits;
    const isClosing = () => !server.listening;
    const exchange = new NodeExchange({ req, res, head, responseStallMs, unread, isClosing });
    if (isTooLarge(head, headerBytesMax)) rejectHeaders(exchange, headerBytesMax, rejections);
    else handleSafely(handler, exchange, log);
  }

  // Other expectations are ignored, as by the native front; node:http would send a bare 417.
  server.on('checkExpectation', serve);
  server.maxConnections = limits.connectionsMax;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { headerBytesMax } = limits;
    const rejected = { code: error.code, headerBytesMax, requestId: requestIds(undefined) };
    const rejection = used.has(socket) ? undefined : parserRejection(rejected);
    if (rejection !== undefined && socket.writable) socket.end(rejection, () => socket.destroy());
    else socket.destroy();
  });
  let closed: Promise<void> | undefined;

  return {
    listen: (host, port) => listen(server, host, port),
    close: (graceMs) => {
      closed ??= close(server, graceMs);
      return closed;
    },
  };
}

function serverOptions(limits: FrontLimits): ServerOptions {
  return {
    // Room for our own 431; beyond it the parser rejects the request.
    maxHeaderSize: 2 * limits.headerBytesMax,
    // Runs from the connection on, so it closes silent ones too.
    headersTimeout: limits.headersTimeoutMs,
    // Runs from a request's first byte.
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeoutMs / 4),
    keepAliveTimeout: limits.headersTimeoutMs,
  };
}

function readHead(req: IncomingMessage, requestIds: RequestIds): RequestHead {
  const { method = 'GET', url = '/', rawHeaders } = req;
  const target = asText(url);
  const mark = target.indexOf('?');
  const headers = new HeaderList();
  let headerChars = method.length + target.length + REQUEST_LINE_BYTES;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', raw = ''] = rawHeaders.slice(at, at + 2);
    const value = asText(raw);
    headerChars += name.length + value.length + HEADER_LINE_BYTES;
    headers.add(name.toLowerCase(), value);
  }
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  const requestId = requestIds(headers.get('x-request-id'));
  return { method, path, query, headers, requestId, headerChars };
}

/** Node gives a character per byte; our texts are UTF-8. */
function asText(latin1: string): string {
  return BEYOND_ASCII.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1;
}

const BEYOND_ASCII = /[\x80-\xff]/;

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error) =>
      reject(new Fatal('listen_failed', `cannot listen on ${host}:${port}`, { cause }));
    server.once('error', failed);
    server.listen({ host, port }, () => {
      server.off('error', failed);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function close(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const timer = new AbortController();
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  const tooLate = delay(graceMs, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([ended, tooLate]);
  timer.abort();
  server.closeAllConnections();
  await ended;
}
