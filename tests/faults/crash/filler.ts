import type { RunningLoad } from '../../support/during.ts';
import { createLoadConnection, type LoadConnection } from '../../support/load-connection.ts';

/**
 * Keeps the server at work with one request, sent again and again over several connections until they break:
 * a request of replays stores nothing and costs the sender next to nothing. While the server works on one,
 * the events of another wait to be written, and that is when a kill reveals a response sent too early.
 */
export async function startFiller(port: number, request: Buffer): Promise<RunningLoad<void>> {
  const url = new URL(`http://127.0.0.1:${port}`);
  const connections = Array.from({ length: CONNECTIONS }, () => createLoadConnection(url));
  const close = (): void => {
    for (const connection of connections) connection.close();
  };
  const opened = await Promise.allSettled(connections.map((connection) => connection.open()));
  const rejected = opened.find((one) => one.status === 'rejected');
  if (rejected) {
    close();
    throw rejected.reason;
  }
  const sending = Promise.all(connections.map((connection) => repeat(connection, request)));
  return {
    async stop() {
      close();
      await sending;
    },
  };
}

const CONNECTIONS = 6;

/** Until the connection is refused: the server was killed, and that is what this is for. */
async function repeat(connection: LoadConnection, request: Buffer): Promise<void> {
  for (;;) {
    const sent = await connection.ask(request).then(
      () => true,
      () => false,
    );
    if (!sent) return;
  }
}
