import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Address } from './proxy/tcp-proxy.ts';
import { quietPort } from './quiet-port.ts';

/** A balancer in front of several processes: each connection goes to the next of them that accepts it. */
export interface TcpBalancer {
  readonly url: string;
  readonly address: Address;
  close(): Promise<void>;
}

/** `targets` is called for each connection. A connection that no target accepts is reset. */
export async function startTcpBalancer(targets: () => Address[]): Promise<TcpBalancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => undefined); // 'close' follows
    return socket.once('close', () => sockets.delete(socket));
  };

  const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    keep(client);
    const all = targets();
    const from = turn++;
    const inOrder = all.map((_, at) => all[(from + at) % all.length]).filter((one) => one !== undefined);
    void firstToTake(inOrder, keep).then((taken) => {
      if (!taken || client.destroyed) {
        taken?.destroy();
        client.resetAndDestroy();
        return;
      }
      client.pipe(taken).pipe(client);
      client.once('close', () => taken.destroy());
      taken.once('close', () => client.destroy());
    });
  });
  const address = { host: '127.0.0.1', port: await quietPort() };
  server.listen(address.port, address.host);
  await once(server, 'listening');
  return {
    url: `http://${address.host}:${address.port}`,
    address,
    async close() {
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await once(server, 'close');
    },
  };
}

async function firstToTake(
  targets: Address[],
  keep: (socket: Socket) => Socket,
): Promise<Socket | undefined> {
  for (const target of targets) {
    const socket = keep(connect({ ...target, noDelay: true }));
    const taken = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    if (taken) return socket;
  }
  return undefined;
}
