import type { AddressInfo, Server, Socket } from 'node:net';
import type { AtEnd } from './test-folder.ts';

export interface Listening {
  port: number;
  /** Of HTTP. */
  url: string;
  /** Destroys what is connected. Resolves when nothing listens any more. */
  close(): Promise<void>;
}

export interface ListenOptions {
  /** Any that is free, when left out. */
  port?: number;
  /** What is connected at the close is reset. */
  resets?: boolean;
}

/** Starts a server on the loopback address. */
export async function listen(
  server: Server,
  { port: wished = 0, resets = false }: ListenOptions = {},
): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(wished, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket[resets ? 'resetAndDestroy' : 'destroy']();
      }),
  };
}

/** The same, closed at the end. */
export async function listenUntil(atEnd: AtEnd, server: Server): Promise<Listening> {
  const listening = await listen(server);
  atEnd(listening.close);
  return listening;
}
