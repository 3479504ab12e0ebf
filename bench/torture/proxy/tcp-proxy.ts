import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy that does to a connection what networks and dying peers do. It knows requests and answers only
 * as turns: what a client sends until the server begins to answer is one exchange.
 */
export interface TcpProxy {
  readonly port: number;
  /** Forwards, as it does from the start. What a black hole held is delivered. */
  open(): Promise<void>;
  /** Resets what is connected and takes no connection: ECONNREFUSED. */
  refuse(): Promise<void>;
  /** Connections are taken and stay, and no byte passes in either direction. */
  blackHole(): void;
  /** How often each fault was done. */
  done(): Record<Fault['kind'], number>;
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** Asked before each connection: a server comes back on another port. */
  target: () => Address;
  /** Asked once for each exchange, with the first bytes of its request. Undefined: it passes. */
  fault?: ((request: Buffer) => Fault | undefined) | undefined;
}

export interface Address {
  host: string;
  port: number;
}

/**
 * What happens to one exchange. `lose`: the request is not forwarded and the connection is reset. The others
 * forward the request and act when its answer begins, so the server has done what it was asked: `swallow`
 * resets the connection, `hang` leaves it open and silent, `cut` gives the first bytes, never all,
 * and closes, `delay` gives all of it later.
 */
export type Fault =
  | { kind: 'lose' }
  | { kind: 'swallow' }
  | { kind: 'hang' }
  | { kind: 'cut'; bytes: number }
  | { kind: 'delay'; ms: number };

export async function startTcpProxy({ target, fault }: TcpProxyOptions): Promise<TcpProxy> {
  const done = { lose: 0, swallow: 0, hang: 0, cut: 0, delay: 0 };
  const links = new Set<Link>();
  let isHole = false;
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (client) => {
    const link = createLink(client, { target, fault, onFault: ({ kind }) => void done[kind]++ });
    links.add(link);
    client.once('close', () => links.delete(link));
    if (!isHole) link.flow();
  });
  const port = await listenSomewhere(server);

  async function stopListening(): Promise<void> {
    for (const link of links) link.reset();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  }

  return {
    port,
    async open() {
      isHole = false;
      if (!server.listening) await listen(server, port);
      for (const link of links) link.flow();
    },
    refuse: stopListening,
    blackHole() {
      isHole = true;
      for (const link of links) link.stand();
    },
    done: () => ({ ...done }),
    close: stopListening,
  };
}

/**
 * Below the ports that clients are given (32768… on Linux): a client that knocks at a closed port from that
 * very port connects to itself.
 */
async function listenSomewhere(server: Server): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const isFree = await listen(server, port).then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

interface LinkOptions extends TcpProxyOptions {
  onFault(fault: Fault): void;
}

/** One client's connection and that to the server, which is made when bytes may flow for the first time. */
interface Link {
  flow(): void;
  stand(): void;
  reset(): void;
}

function createLink(client: Socket, options: LinkOptions): Link {
  let server: Socket | undefined;
  const reset = (): void => {
    if (!client.destroyed) client.resetAndDestroy();
  };
  client.on('error', () => undefined);
  client.once('close', () => server?.destroy());

  function reach(): Socket {
    const made = connect({ ...options.target(), noDelay: true });
    const turns = createTurns(client, made, { ...options, reset });
    client.on('data', turns.asked);
    client.on('drain', () => made.resume());
    client.on('end', () => made.end());
    made.on('data', turns.answered);
    made.on('drain', () => client.resume());
    made.on('end', () => client.end());
    made.on('error', reset);
    return made;
  }

  return {
    flow() {
      if (client.destroyed) return;
      server ??= reach();
      server.resume();
      client.resume();
    },
    stand() {
      client.pause();
      server?.pause();
    },
    reset,
  };
}

interface TurnOptions extends Pick<LinkOptions, 'fault' | 'onFault'> {
  reset(): void;
}

/** Who speaks on a connection just now, and the fault that was drawn when the client began. */
function createTurns(client: Socket, server: Socket, { fault, onFault, reset }: TurnOptions) {
  let drawn: Fault | undefined;
  let clientSpeaks = false;
  let isSilent = false;

  function giveLater(chunk: Buffer, ms: number): void {
    server.pause();
    const timer = setTimeout(() => {
      client.write(chunk);
      server.resume();
    }, ms);
    client.once('close', () => clearTimeout(timer));
  }

  return {
    asked(chunk: Buffer): void {
      if (!clientSpeaks) drawn = fault?.(chunk);
      clientSpeaks = true;
      if (drawn?.kind === 'lose') {
        onFault(drawn);
        reset();
      } else if (!server.write(chunk)) client.pause();
    },
    answered(chunk: Buffer): void {
      const due = clientSpeaks ? drawn : undefined;
      clientSpeaks = false;
      if (isSilent || !client.writable) return;
      if (due) onFault(due);
      if (due?.kind === 'swallow') reset();
      else if (due?.kind === 'cut') client.end(chunk.subarray(0, Math.min(due.bytes, chunk.length - 1)));
      else if (due?.kind === 'delay') giveLater(chunk, due.ms);
      else if (due?.kind === 'hang') isSilent = true;
      else if (!client.write(chunk)) server.pause();
    },
  };
}
