import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../support/listen.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { AtEnd } from '../support/test-folder.ts';

/** Between a client and a server: what is done to connections that are there does not touch later ones. */
export interface FaultyWay {
  readonly port: number;
  /** From now on nothing comes back, and they stay open. */
  silence(): void;
  /** The next response of each connection ends in its middle, and the connection with it. */
  cutNextResponses(): void;
  /** The next response of each connection goes through this. */
  changeNextResponses(change: (bytes: Buffer) => Buffer): void;
  close(): void;
}

/** `port` is called for each connection: the server may start after the proxy. */
export async function startFaultyWay(port: () => number): Promise<FaultyWay> {
  const open = new Map<Socket, Socket>();
  const server = createServer((client) => {
    const upstream = connect(port(), '127.0.0.1');
    open.set(client, upstream);
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    client.pipe(upstream).pipe(client);
    client.once('close', () => {
      open.delete(client);
      upstream.destroy();
    });
  });
  const onNextResponses = (act: (bytes: Buffer, client: Socket, upstream: Socket) => void) => {
    for (const [client, upstream] of open) {
      upstream.unpipe(client).once('data', (bytes) => act(bytes, client, upstream));
      upstream.resume();
    }
  };
  const { port: ownPort, close } = await listen(server);
  return {
    port: ownPort,
    silence() {
      for (const [client, upstream] of open) upstream.unpipe(client).resume();
    },
    cutNextResponses() {
      onNextResponses((bytes, client) => client.end(bytes.subarray(0, bytes.length / 2)));
    },
    changeNextResponses(change) {
      onNextResponses((bytes, client, upstream) => {
        client.write(change(bytes));
        upstream.pipe(client);
      });
    },
    close: () => void close(),
  };
}

/** A database of its own behind such a way; it is dropped at the end, behind the way. */
export async function databaseBehindWay(atEnd: AtEnd): Promise<{ url: string; way: FaultyWay }> {
  const { url, drop } = await createTestDatabase();
  atEnd(drop);
  const direct = new URL(url);
  const port = Number(direct.port);
  const way = await startFaultyWay(() => port);
  atEnd(() => way.close());
  direct.host = `127.0.0.1:${way.port}`;
  return { url: direct.href, way };
}
