import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ANSWER_GUARDS } from '../schemas/answer-guards.ts';
import { ERROR_STATUS, errorBody } from '../schemas/error-codes.ts';
import { Fatal } from '../schemas/failures.ts';
import { API_VERSION, JSON_TYPE } from './http/answer-head.ts';
import { publicUrl } from './public-url.ts';

export interface ControlServer {
  /** `http://host:port`. */
  readonly url: string;
  /** From now on this answers; until then it is alive, and everything else 503 `unavailable`. */
  serve(listener: RequestListener): void;
  /** Takes no more requests, and resolves when those in flight are answered. */
  drain(): Promise<void>;
  /** Cuts off what is left. */
  close(): void;
}

export interface ControlServerOptions {
  /** Default: a free port of this machine only. */
  host?: string;
  port?: number;
  /** What is answered until the app stands. Default: that it lives, and 503 to everything else. */
  meanwhile?: RequestListener;
  /** What to set where the port is taken. */
  variables?: string;
}

/** Where the data plane forwards to. It listens before its app stands. Throws Fatal `listen_failed`. */
export async function createControlServer({
  host = '127.0.0.1',
  port = 0,
  meanwhile = refuse,
  variables = 'HOST and PORT',
}: ControlServerOptions = {}): Promise<ControlServer> {
  let answer = meanwhile;
  const server = createServer((request, response) => answer(request, response));
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
      answer = listener;
    },
    drain: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      return closed;
    },
    close: () => server.closeAllConnections(),
  };
}

const ALWAYS = { 'x-api-version': API_VERSION, ...ANSWER_GUARDS, ...JSON_TYPE };

function refuse(request: IncomingMessage, response: ServerResponse): void {
  // A process that waits for its stores lives; it is just not ready.
  if (request.method === 'GET' && request.url === '/healthz') {
    response.writeHead(200, ALWAYS).end('{"status":"alive"}');
    return;
  }
  const requestId = String(request.headers['x-request-id'] ?? '');
  const message = 'The control plane is starting. Send the request again.';
  response.writeHead(ERROR_STATUS.unavailable, { ...ALWAYS, 'retry-after': '1' });
  response.end(errorBody({ code: 'unavailable', message }, requestId));
}
