import type { RunningLoad } from '../../support/during.ts';
import { createLoadConnection } from '../../support/load-connection.ts';
import { startSenders } from '../../support/senders.ts';

const CONNECTIONS = 6;

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
  const send = async (sender: number) => void (await connections[sender]?.ask(request));
  const sending = startSenders({ senders: CONNECTIONS, send });
  return {
    async stop() {
      close();
      // Connections break with the server that is killed, and that is what this is for.
      await sending.stop().catch(() => undefined);
    },
  };
}
