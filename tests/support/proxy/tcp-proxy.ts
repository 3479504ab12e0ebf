import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../listen.ts';
import { quietPort } from '../quiet-port.ts';

/**
 * A TCP proxy that does to a connection what networks and dying peers do. It knows requests and responses
 * only as turns: what a client sends until the server begins to respond is one request.
 */
export interface TcpProxy {
  readonly port: number;
  /** How often each fault was done. */
  done(): Record<Fault['kind'], number>;
  /** Resets what is connected and takes no connection: ECONNREFUSED. */
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** Called for each connection: a server comes back on another port. */
  target: () => Address;
  /** Called once for each request, with its first bytes. Undefined: it passes. */
  fault?: ((request: Buffer) => Fault | undefined) | undefined;
}

export interface Address {
  host: string;
  port: number;
}

/**
 * What happens to one exchange. `lose`: the request is not forwarded and the connection is reset. The others
 * forward the request and act when its response begins, so the server has processed it: `swallow`
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
  const server = createServer({ noDelay: true }, (client) => {
    link(client, connect({ ...target(), noDelay: true }), {
      fault,
      onFault: ({ kind }) => void done[kind]++,
    });
  });
  const { port, close } = await listen(server, { port: await quietPort(), resets: true });
  return { port, done: () => ({ ...done }), close };
}

interface LinkOptions extends Pick<TcpProxyOptions, 'fault'> {
  onFault(fault: Fault): void;
}

/** Joins one client's connection with one to the server: with either the other one ends, in the same way. */
function link(client: Socket, server: Socket, options: LinkOptions): void {
  const reset = (): void => {
    if (!client.destroyed) client.resetAndDestroy();
  };
  const turns = createTurns(client, server, { ...options, reset });
  client.on('data', turns.requested);
  client.on('drain', () => server.resume());
  client.on('end', () => server.end());
  client.on('error', () => undefined); // 'close' follows
  client.once('close', () => server.destroy());
  server.on('data', turns.responded);
  server.on('drain', () => client.resume());
  server.on('end', () => client.end());
  server.on('error', reset);
}

interface TurnOptions extends LinkOptions {
  reset(): void;
}

/** Who speaks on a connection just now, and the fault that was drawn when the client began. */
function createTurns(client: Socket, server: Socket, { fault, onFault, reset }: TurnOptions) {
  let drawn: Fault | undefined;
  let clientSpeaks = false;
  let isSilent = false;

  function pass(chunk: Buffer): void {
    if (client.writable && !client.write(chunk)) server.pause();
  }

  function passLater(chunk: Buffer, delayMs: number): void {
    server.pause();
    setTimeout(() => {
      server.resume();
      pass(chunk);
    }, delayMs);
  }

  return {
    requested(chunk: Buffer): void {
      if (!clientSpeaks) drawn = fault?.(chunk);
      clientSpeaks = true;
      if (drawn?.kind === 'lose') {
        onFault(drawn);
        reset();
      } else if (!server.write(chunk)) client.pause();
    },
    responded(chunk: Buffer): void {
      const due = clientSpeaks ? drawn : undefined;
      clientSpeaks = false;
      if (isSilent || !client.writable) return;
      if (due) onFault(due);
      if (due?.kind === 'swallow') reset();
      else if (due?.kind === 'cut') client.end(chunk.subarray(0, Math.min(due.bytes, chunk.length - 1)));
      else if (due?.kind === 'hang') isSilent = true;
      else if (due?.kind === 'delay') passLater(chunk, due.ms);
      else pass(chunk);
    },
  };
}
