import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ERROR_STATUS, errorBody } from '../schemas/error-codes.ts';

export interface ControlServer {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** From now on this answers; until then everything is 503 `unavailable`. */
  serve(listener: RequestListener): void;
  /** Takes no more requests, and resolves when those in flight are answered. */
  drain(): Promise<void>;
  /** Cuts off what is left. */
  close(): void;
}

/** Where the data plane forwards to, on this machine only. It listens before its app stands. */
export async function createControlServer(): Promise<ControlServer> {
  let answer: RequestListener = refuse;
  const server = createServer((request, response) => answer(request, response));
  // The data plane keeps its connections; one that we close first would fail the request that is on its way.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const requestId = String(request.headers['x-request-id'] ?? '');
  const message = 'The control plane is starting. Send the request again.';
  response.writeHead(ERROR_STATUS.unavailable, { 'content-type': 'application/json', 'retry-after': '1' });
  response.end(errorBody({ code: 'unavailable', message }, requestId));
}
