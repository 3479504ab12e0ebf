import { Buffer } from 'node:buffer';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** A request of a program on this machine. */
export interface LocalRequest {
  /** Decoded parts of the path. */
  parts: string[];
  query: URLSearchParams;
  /** Of a body that is declared as JSON, at most 1 MiB. Rejects with a RequestError. */
  readJson(): Promise<string>;
}

export interface LocalResponse {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

export interface Operation {
  method: 'GET' | 'POST';
  /** The first part of the path, and how many parts there are. */
  name: string;
  parts: number;
  respond(request: LocalRequest): LocalResponse | Promise<LocalResponse>;
}

/** What is wrong with a request. */
export class RequestError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const BODY_BYTES_MAX = 1024 * 1024;
const CONNECTIONS_MAX = 1_000;
const HEAD_BYTES_MAX = 16 * 1024;
const HEAD_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 60_000;

/** Everything about it is bounded: connections, heads, bodies, and how long a request takes to arrive. */
export function createLocalServer(
  operations: readonly Operation[],
  onError: (error: unknown) => void,
): Server {
  const limits = {
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
  };
  const server = createServer(limits, (request, response) => {
    respond(request, operations)
      .catch((error: unknown) => errorResponse(error, onError))
      .then((responded) => write(response, responded, server.listening))
      .catch(onError);
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

async function respond(request: IncomingMessage, operations: readonly Operation[]): Promise<LocalResponse> {
  expectLocal(request);
  const { parts, query } = addressOf(request);
  const named = operations.filter((one) => one.name === parts[0] && one.parts === parts.length);
  const operation = named.find(({ method }) => method === request.method);
  if (operation) return await operation.respond({ parts, query, readJson: () => readJson(request) });
  if (named.length === 0) throw new RequestError(404, 'not_found', 'There is no such operation.');
  throw new RequestError(405, 'method_not_allowed', `Use ${named.map(({ method }) => method).join(', ')}.`);
}

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

/**
 * Pages in a browser of this machine can send requests too: under a name of their own that leads here (DNS
 * rebinding), or to this address, where the browser says so.
 */
function expectLocal({ headers }: IncomingMessage): void {
  if (!LOCAL_HOST.test(headers.host ?? '')) {
    throw new RequestError(403, 'host_not_allowed', 'Use 127.0.0.1 or localhost as the host.');
  }
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || (site !== undefined && site !== 'none')) {
    throw new RequestError(403, 'origin_not_allowed', 'Pages in a browser cannot use the sidecar.');
  }
}

function addressOf({ url = '' }: IncomingMessage): Pick<LocalRequest, 'parts' | 'query'> {
  const [path = '', ...rest] = url.split('?');
  try {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    return { parts, query: new URLSearchParams(rest.join('?')) };
  } catch {
    throw new RequestError(400, 'invalid_request', 'The path cannot be decoded.');
  }
}

async function readJson(request: IncomingMessage): Promise<string> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers;
  // One that a form of a page cannot have.
  if (!/^application\/json\b/i.test(type) || encoding !== 'identity') {
    throw new RequestError(415, 'unsupported_media_type', 'Send JSON, as Content-Type application/json.');
  }
  const body = await readBody(request);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new RequestError(400, 'invalid_json', 'The body is not UTF-8.');
  }
}

/** What is too long is read to its end, as long as that may take, and not kept. */
function readBody(request: IncomingMessage): Promise<Buffer> {
  const tooLong = new RequestError(413, 'payload_too_large', `A body has at most ${BODY_BYTES_MAX} bytes.`);
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    if (Number(request.headers['content-length'] ?? 0) > BODY_BYTES_MAX) reject(tooLong);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
      else {
        chunks = [];
        reject(tooLong);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => reject(new RequestError(400, 'invalid_request', 'The body is not whole.')));
  });
}

function errorResponse(error: unknown, onError: (error: unknown) => void): LocalResponse {
  const isOfRequest = error instanceof RequestError;
  if (!isOfRequest) onError(error);
  const { status, code, message } = isOfRequest
    ? error
    : new RequestError(500, 'internal', 'The sidecar has failed; its log says why.');
  return { status, body: { error: { code, message } } };
}

function write(response: ServerResponse, { status, body, headers }: LocalResponse, isOpen: boolean): void {
  const text = JSON.stringify(body);
  // The rest of a body that is too long is not waited for.
  const ends = isOpen && status !== 413 ? {} : { connection: 'close' };
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    ...ends,
    ...headers,
  });
  response.end(text);
}
