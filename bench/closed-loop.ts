import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface ClosedLoop {
  origin: string;
  /** Whole requests; each connection sends them in turn, from a place of its own on. */
  requests: readonly Buffer[];
  connections: number;
  durationMs: number;
  /**
   * Takes a core of its own all the time. Who answers a reader that sleeps pays for waking it: in some runs
   * for 0.4 of the answers, in others for 0.9, which is a fifth of what an answer costs.
   */
  staysAwake: boolean;
}

export interface ClosedLoopResult {
  answered: number;
  seconds: number;
}

/**
 * As many requests as are answered: each connection has one under way. Rejects on any answer but 200. Raw
 * sockets and no more parsing than the length, since the generator shares the machine with what it drives.
 */
export async function runClosedLoop(load: ClosedLoop): Promise<ClosedLoopResult> {
  const { hostname, port } = new URL(load.origin);
  const startedMs = performance.now();
  const untilMs = startedMs + load.durationMs;
  const sleep = load.staysAwake ? stayAwake() : () => undefined;
  const counts = await Promise.all(
    Array.from({ length: load.connections }, async (_, connection) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      const first = Math.floor((connection * load.requests.length) / load.connections);
      return askInTurn(socket, { requests: load.requests, first, untilMs });
    }),
  ).finally(sleep);
  const answered = counts.reduce((sum, count) => sum + count, 0);
  return { answered, seconds: (performance.now() - startedMs) / 1000 };
}

function stayAwake(): () => void {
  let isAwake = true;
  const look = () => {
    if (isAwake) setImmediate(look);
  };
  look();
  return () => {
    isAwake = false;
  };
}

interface Turn {
  requests: readonly Buffer[];
  first: number;
  untilMs: number;
}

/** How many were answered. */
function askInTurn(socket: Socket, { requests, first, untilMs }: Turn): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0;
    let at = first;
    let begun = '';
    const ask = () => {
      socket.write(requests[at] as Buffer);
      at = (at + 1) % requests.length;
    };
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed')));
    socket.on('data', (chunk) => {
      begun += chunk.toString('latin1');
      const isWhole = isWholeAnswer(begun);
      if (isWhole === undefined) return;
      if (!isWhole) return reject(new Error(`unexpected answer: ${begun}`));
      begun = '';
      answered += 1;
      if (performance.now() < untilMs) return ask();
      socket.removeAllListeners('close');
      socket.destroy();
      resolve(answered);
    });
    ask();
  });
}

/** Undefined while more of it is to come; false for anything but 200 with a known length. */
function isWholeAnswer(text: string): boolean | undefined {
  const bodyAt = text.indexOf('\r\n\r\n') + 4;
  if (bodyAt === 3) return undefined;
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith('HTTP/1.1 200') || length === undefined) return false;
  return text.length >= bodyAt + Number(length) ? true : undefined;
}
