import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface ClosedLoopLoad {
  origin: string;
  /** Whole requests; each connection sends them in turn, from a place of its own on. */
  requests: readonly Buffer[];
  connections: number;
  /**
   * Keeps one core busy all the time. A server that responds to a sleeping reader pays for waking it: in some
   * runs for 0.4 of the responses, in others for 0.9, which is a fifth of what a response costs.
   */
  staysAwake: boolean;
}

export interface ClosedLoopResult {
  responded: number;
  seconds: number;
}

/** A response takes milliseconds: after this long without one, none will come. */
const SILENT_MS_MAX = 30_000;

/** The same again and again on the same connections. */
export interface ClosedLoop {
  run(durationMs: number): Promise<ClosedLoopResult>;
  close(): void;
}

/**
 * Sends as fast as responses come: one request in flight per connection. Rejects unless it is 200. Raw
 * sockets and no more parsing than the length, since the generator shares the machine with what it drives.
 */
export async function openClosedLoop(load: ClosedLoopLoad): Promise<ClosedLoop> {
  const { hostname, port } = new URL(load.origin);
  const sockets = Array.from({ length: load.connections }, () =>
    connect({ host: hostname, port: Number(port), noDelay: true }),
  );
  const close = () => {
    for (const socket of sockets) socket.destroy();
  };
  try {
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  } catch (error) {
    close();
    throw error;
  } finally {
    // What fails between two runs shows in the next one.
    for (const socket of sockets) socket.on('error', () => undefined);
  }
  const firsts = sockets.map((_, at) => Math.floor((at * load.requests.length) / load.connections));
  return {
    async run(durationMs) {
      const startedMs = performance.now();
      const turn = { requests: load.requests, untilMs: startedMs + durationMs };
      const sleep = load.staysAwake ? stayAwake() : () => undefined;
      const giveUp = setTimeout(() => {
        const silent = new Error(`no response within ${SILENT_MS_MAX} ms`);
        for (const socket of sockets) socket.destroy(silent);
      }, durationMs + SILENT_MS_MAX);
      const requested = sockets.map((socket, at) => askInTurn(socket, { ...turn, first: firsts[at] ?? 0 }));
      const counts = await Promise.all(requested).finally(() => {
        clearTimeout(giveUp);
        sleep();
      });
      const responded = counts.reduce((sum, count) => sum + count, 0);
      return { responded, seconds: (performance.now() - startedMs) / 1000 };
    },
    close,
  };
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

/** Number of responses. */
function askInTurn(socket: Socket, { requests, first, untilMs }: Turn): Promise<number> {
  return new Promise((resolve, reject) => {
    let responded = 0;
    let at = first;
    let begun = '';
    const ask = () => {
      socket.write(requests[at] as Buffer);
      at = (at + 1) % requests.length;
    };
    const onClose = () => end(new Error('the connection was closed'));
    const onData = (chunk: Buffer) => {
      begun += chunk.toString('latin1');
      const isWhole = isWholeResponse(begun);
      if (isWhole === undefined) return;
      if (!isWhole) return end(new Error(`unexpected response: ${begun}`));
      begun = '';
      responded += 1;
      if (performance.now() < untilMs) ask();
      else end();
    };
    const end = (error?: Error) => {
      socket.off('data', onData).off('close', onClose).off('error', end);
      if (error) reject(error);
      else resolve(responded);
    };
    socket.on('data', onData).on('close', onClose).on('error', end);
    if (socket.destroyed) onClose();
    else ask();
  });
}

/** Undefined while more of it is to come; false for anything but 200 with a known length. */
function isWholeResponse(text: string): boolean | undefined {
  const bodyAt = text.indexOf('\r\n\r\n') + 4;
  if (bodyAt === 3) return undefined;
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  if (!text.startsWith('HTTP/1.1 200') || length === undefined) return false;
  return text.length >= bodyAt + Number(length) ? true : undefined;
}
