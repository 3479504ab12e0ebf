import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { FRONT_LIMITS } from '../../infra/http/front-limits.ts';
import { parserRejection } from '../../infra/http/parser-rejection.ts';
import { isOperatorRead } from '../../infra/platform/operator-paths.ts';
import { publicUrl } from '../../infra/platform/public-url.ts';
import { createRejectionLog } from '../../infra/platform/rejection-log.ts';
import { createRequestIds, type RequestIds } from '../../infra/platform/request-ids.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { Fatal } from '../../schemas/failures.ts';
import { pageListener, rejectPage, sendPage } from './page-responses.ts';

export interface ControlServer {
  /** `http://host:port`. */
  readonly url: string;
  /**
   * From now on this handler responds. Earlier the health check succeeds, and the rest is 503 `unavailable`.
   */
  serve(listener: RequestListener): void;
  /** Takes no more requests, and resolves when those in flight have their response. */
  drain(): Promise<void>;
  /** Cuts off what is left. */
  close(): void;
}

export interface ControlServerOptions {
  /** Default: a free port of this machine only. */
  host?: string;
  port?: number;
  /** What responds until the app is ready. Default: the health check succeeds, and the rest is 503. */
  meanwhile?: RequestListener;
  /** Called for requests that are rejected until the app is ready. */
  log?: Logger;
  /** What to set where the port is taken. */
  variables?: string;
}

/** The public port judges header blocks; the forwarder adds the request id and what is of the connection. */
const HEADER_BYTES_MAX = 2 * FRONT_LIMITS.headerBytesMax;

/** Where the data plane forwards to. It listens before its app is ready. Throws Fatal `listen_failed`. */
export async function createControlServer({
  host = '127.0.0.1',
  port = 0,
  log,
  meanwhile = starting(log),
  variables = 'HOST and PORT',
}: ControlServerOptions = {}): Promise<ControlServer> {
  let respond = meanwhile;
  const requestIds = createRequestIds();
  const server = createServer({ maxHeaderSize: HEADER_BYTES_MAX }, (request, response) => {
    responded.add(request.socket);
    respond(request, response);
  });
  /** Connections that have carried a request: a response may be in progress, so no error is written. */
  const responded = new WeakSet<Duplex>();
  server.on('clientError', (error, socket) => {
    if (responded.has(socket)) socket.destroy();
    else rejectUnread(error, socket, requestIds);
  });
  // The data plane keeps its connections; one that we close first would fail the request that is on its way.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `${host}:${port} is taken or not ours: set ${variables} to a free address.`;
      reject(new Fatal('listen_failed', message, { cause }));
    });
    server.listen(port, host, resolve);
  });
  return {
    url: publicUrl({ host, port: (server.address() as AddressInfo).port }),
    serve: (listener) => {
      respond = listener;
    },
    drain: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      return closed;
    },
    close: () => server.closeAllConnections(),
  };
}

/** A process that waits for its stores lives; it is just not ready. */
function starting(log: Logger | undefined): RequestListener {
  const rejections = log && createRejectionLog(log);
  return pageListener((exchange) => {
    const { request, path } = exchange;
    if (isOperatorRead(request.method) && path === '/healthz') {
      return sendPage(exchange, 200, { status: 'alive' });
    }
    rejectPage(exchange, STARTING, { rejections, headers: { 'retry-after': '1' } });
  });
}

const STARTING: Rejection = {
  code: 'unavailable',
  message: 'The control plane is starting. Send the request again.',
};

/** Nothing more is known of a request that the parser rejects: `Connection: close`, and the common form. */
function rejectUnread(error: NodeJS.ErrnoException, socket: Duplex, requestIds: RequestIds): void {
  const { headerBytesMax } = FRONT_LIMITS;
  const rejection = parserRejection({ code: error.code, headerBytesMax, requestId: requestIds(undefined) });
  if (rejection !== undefined && socket.writable) socket.end(rejection, () => socket.destroy());
  else socket.destroy();
}
