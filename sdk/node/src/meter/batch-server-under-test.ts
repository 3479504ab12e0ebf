import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { listenUntil } from '../../../../tests/support/listen.ts';

export interface BatchItem {
  idempotencyKey: string;
  customerId: string;
  meterId: string;
  value: number;
  occurredAt: string;
}

export interface BatchServer {
  url: string;
  /** Of events that were stored, without repeats. */
  created: string[];
  /** How many events each request had, whatever its response was. */
  sizes: number[];
  requests: IncomingMessage[];
  /** What it does to the next requests, one each; then it behaves. */
  script(...acts: Act[]): void;
  /** The same to all that follow, where it returns true. */
  always(act: (exchange: BatchExchange) => boolean): void;
}

export interface BatchExchange {
  request: IncomingMessage;
  response: ServerResponse;
  items: BatchItem[];
}

export type Act = (exchange: BatchExchange) => void;

/** A server of the batch operation that remembers keys, and misbehaves as its script says. */
export async function startBatchServer(): Promise<BatchServer> {
  const script: Act[] = [];
  const held: { always: (exchange: BatchExchange) => boolean } = { always: () => false };
  const known = new Set<string>();
  const server: Omit<BatchServer, 'url'> = {
    created: [],
    sizes: [],
    requests: [],
    script: (...acts) => void script.push(...acts),
    always(act) {
      held.always = act;
    },
  };
  const http = createServer(async (request, response) => {
    const items = await itemsOf(request);
    server.sizes.push(items.length);
    server.requests.push(request);
    const exchange = { request, response, items };
    const act = script.shift();
    if (act) act(exchange);
    else if (!held.always(exchange)) {
      server.created.push(
        ...items.map(({ idempotencyKey }) => idempotencyKey).filter((key) => !known.has(key)),
      );
      sendJson(response, 200, resultsOf(items, known));
    }
  });
  const { url } = await listenUntil(onTestFinished, http);
  return Object.assign(server, { url });
}

async function itemsOf(request: IncomingMessage): Promise<BatchItem[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
  return (JSON.parse(text) as { events: BatchItem[] }).events;
}

/** As the API: the same key again is a duplicate. */
export function resultsOf(items: readonly BatchItem[], known = new Set<string>()) {
  const results = items.map(({ idempotencyKey }, index) => {
    const status = known.has(idempotencyKey) ? 'duplicate' : 'created';
    known.add(idempotencyKey);
    return { index, idempotencyKey, status };
  });
  return { summary: {}, results };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function errorBody(code: string, more: object = {}): object {
  return { error: { code, message: `as scripted: ${code}`, requestId: 'req_1', ...more } };
}
