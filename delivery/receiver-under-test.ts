import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { listen } from '../tests/support/listen.ts';
import { ofThisFile } from '../tests/support/of-this-file.ts';
import type { SendRequest } from './send/send.ts';

/** Something that listens on a port of its own, on the loopback address. */
export interface Receiver {
  port: number;
  url: string;
  /** Connections that were opened to it. */
  connections(): number;
  close(): Promise<void>;
}

/** A receiver of HTTP. */
export function startReceiver(respond: RequestListener): Promise<Receiver> {
  return listenAsReceiver(createServer(respond));
}

/** One that does what no HTTP server would. */
export function startRawReceiver(talk: (socket: Socket) => void): Promise<Receiver> {
  return listenAsReceiver(createTcpServer(talk));
}

/** One for the running test, which begins to talk when it has been sent something. */
export function testTalking(talk: (socket: Socket) => void): Promise<Receiver> {
  return testReceiver(startRawReceiver((socket) => void socket.once('data', () => talk(socket))));
}

/** Of an event of the tests, to any place, unless `more` says otherwise. */
export function requestTo(url: string, more: Partial<SendRequest> = {}): SendRequest {
  return {
    url,
    eventId: 'evt_1',
    body: '{}',
    secrets: [`whsec_${Buffer.alloc(32, 1).toString('base64')}`],
    privateTargets: 'all',
    attemptNumber: 1,
    ...more,
  };
}

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Hands over each request as it came, and responds: with 200, where nothing else is given. */
export function startReading(
  take: (received: Received) => void,
  respond: (response: ServerResponse) => void = (response) => void response.end('ok'),
): Promise<Receiver> {
  return startReceiver(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    take({ headers: request.headers, body: Buffer.concat(chunks) });
    respond(response);
  });
}

/** For all tests of a file. */
export function receiverOfThisFile(starting: Promise<Receiver>): Promise<Receiver> {
  return ofThisFile(starting, (receiver) => receiver.close());
}

/** For the running test. */
export async function testReceiver(starting: Promise<Receiver>): Promise<Receiver> {
  const receiver = await starting;
  onTestFinished(() => receiver.close());
  return receiver;
}

export async function listenAsReceiver(server: Server): Promise<Receiver> {
  let opened = 0;
  server.on('connection', (socket: Socket) => {
    opened += 1;
    // It is ended without warning from either side.
    socket.on('error', () => undefined);
  });
  const { port, url, close } = await listen(server);
  return { port, url: `${url}/hooks`, connections: () => opened, close };
}
