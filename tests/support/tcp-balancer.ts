import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';
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
  let turn = 0;
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (client) => {
    client.on('error', () => undefined); // 'close' follows
    const all = targets();
    const from = turn++;
    const inOrder = all.map((_, at) => all[(from + at) % all.length]).filter((one) => one !== undefined);
    void firstToTake(inOrder).then((taken) => {
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
  const { port, url, close } = await listen(server, { port: await quietPort(), resets: true });
  return { url, address: { host: '127.0.0.1', port }, close };
}

async function firstToTake(targets: Address[]): Promise<Socket | undefined> {
  for (const target of targets) {
    const socket = connect({ ...target, noDelay: true }).on('error', () => undefined);
    const taken = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('close', () => resolve(false));
    });
    if (taken) return socket;
  }
  return undefined;
}
