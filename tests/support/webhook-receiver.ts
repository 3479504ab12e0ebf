import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pass } from 'node:timers/promises';
import { listen } from './listen.ts';

/** A server that receives webhook events, responds as configured, and records what came when. */
export interface WebhookReceiver {
  /** Of one endpoint; the name comes back with each request. */
  url(name: string): string;
  close(): Promise<void>;
}

/** One request, its body read whole. */
export interface ReceivedEvent {
  endpoint: string;
  eventId: string;
  /** As it says of itself; 1 for the first. */
  attempt: number;
  body: string;
  /** Milliseconds since 1970. */
  atMs: number;
}

/** `reset` and `hang` send no response; `lateMs` delays it. */
export type Behaviour = { status: number; lateMs?: number } | 'reset' | 'hang';

export interface ReceiverOptions {
  onEvent: (event: ReceivedEvent) => Behaviour;
  /** The whole response was handed over to the connection. */
  onResponded?: (event: ReceivedEvent, status: number) => void;
}

const OK: Behaviour = { status: 200 };

export async function startWebhookReceiver(options: ReceiverOptions): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    receive(request, response, options).catch(() => response.destroy());
  });
  const { url, close } = await listen(server);
  return { url: (name) => `${url}/${name}`, close };
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { onEvent, onResponded = () => undefined }: ReceiverOptions,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const event: ReceivedEvent = {
    endpoint: (request.url ?? '').slice(1),
    eventId: String(request.headers['webhook-id']),
    attempt: Number(request.headers['x-service-attempt']),
    body: Buffer.concat(chunks).toString(),
    atMs: Date.now(),
  };
  const behaviour = onEvent(event) ?? OK;
  if (behaviour === 'hang') return;
  if (behaviour === 'reset') {
    request.socket.resetAndDestroy();
    return;
  }
  const { status, lateMs = 0 } = behaviour;
  if (lateMs > 0) await pass(lateMs);
  response.writeHead(status, { 'content-type': 'text/plain' });
  response.end('', () => onResponded(event, status));
}
