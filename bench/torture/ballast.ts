import { openLoadSocket } from '../load-socket.ts';

/**
 * Keeps the server at work with one request, sent again and again over several connections until they break:
 * a request of replays stores nothing and costs the sender next to nothing. While the server works on one,
 * the events of another wait to be written, and that is when a kill tells an early answer from a true one.
 */
export async function startBallast(port: number, request: Buffer): Promise<void> {
  const sockets = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => openLoadSocket('127.0.0.1', port)),
  );
  for (const socket of sockets) void repeat(() => socket.send(request)).finally(() => socket.close());
}

const CONNECTIONS = 6;

/** Until it is refused: the server was killed, and that is what this is for. */
async function repeat(send: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const sent = await send().then(
      () => true,
      () => false,
    );
    if (!sent) return;
  }
}
