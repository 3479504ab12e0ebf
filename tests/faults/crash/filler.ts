import type { RunningLoad } from '../../support/during.ts';
import { type LoadSocket, openLoadSocket } from '../../support/load-socket.ts';

/**
 * Keeps the server at work with one request, sent again and again over several connections until they break:
 * a request of replays stores nothing and costs the sender next to nothing. While the server works on one,
 * the events of another wait to be written, and that is when a kill reveals a response sent too early.
 */
export async function startFiller(port: number, request: Buffer): Promise<RunningLoad<void>> {
  const opening = Array.from({ length: CONNECTIONS }, () => openLoadSocket('127.0.0.1', port));
  const opened = await Promise.allSettled(opening);
  const sockets = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const sending = Promise.all(sockets.map((socket) => repeat(socket, request)));
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.close();
    await sending;
  };
  const rejected = opened.find((one) => one.status === 'rejected');
  if (!rejected) return { stop };
  await stop();
  throw rejected.reason;
}

const CONNECTIONS = 6;

/** Until the connection is refused: the server was killed, and that is what this is for. */
async function repeat(socket: LoadSocket, request: Buffer): Promise<void> {
  for (;;) {
    const sent = await socket.send(request).then(
      () => true,
      () => false,
    );
    if (!sent) return;
  }
}
