import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';

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
  return listen(createServer(respond));
}

/** One that does what no HTTP server would. */
export function startRawReceiver(talk: (socket: Socket) => void): Promise<Receiver> {
  return listen(createTcpServer(talk));
}

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Hands over each request as it came, and responds with 200. */
export function startReading(take: (received: Received) => void): Promise<Receiver> {
  return startReceiver(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    take({ headers: request.headers, body: Buffer.concat(chunks) });
    response.end('ok');
  });
}

export async function listen(server: Server): Promise<Receiver> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('connection', (socket) => {
    opened += 1;
    sockets.add(socket);
    // It is ended without warning from either side.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/hooks`,
    connections: () => opened,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
