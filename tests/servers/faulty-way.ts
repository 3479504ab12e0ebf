import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Between a client and a server: what is done to connections that are there does not touch later ones. */
export interface FaultyWay {
  readonly port: number;
  /** From now on nothing comes back, and they stay open. */
  silence(): void;
  /** The next answer of each ends in its middle, and the connection with it. */
  cutNextResponses(): void;
  /** The next answer of each goes through this. */
  changeNextResponses(change: (bytes: Buffer) => Buffer): void;
  close(): void;
}

/** `port` is asked for each connection: the server may be started after the way to it. */
export async function startFaultyWay(port: () => number): Promise<FaultyWay> {
  const open = new Map<Socket, Socket>();
  const server = createServer((client) => {
    const away = connect(port(), '127.0.0.1');
    open.set(client, away);
    for (const socket of [client, away]) socket.on('error', () => undefined);
    client.pipe(away).pipe(client);
    client.once('close', () => {
      open.delete(client);
      away.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      for (const [client, away] of open) away.unpipe(client).resume();
    },
    cutNextResponses() {
      for (const [client, away] of open) {
        away.unpipe(client).once('data', (bytes) => client.end(bytes.subarray(0, bytes.length / 2)));
        away.resume();
      }
    },
    changeNextResponses(change) {
      for (const [client, away] of open) {
        away.unpipe(client).once('data', (bytes) => {
          client.write(change(bytes));
          away.pipe(client);
        });
        away.resume();
      }
    },
    close() {
      server.close();
      for (const client of open.keys()) client.destroy();
    },
  };
}
