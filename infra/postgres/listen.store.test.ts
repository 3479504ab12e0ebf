import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { createTestDatabase } from '../../tests/support/test-database.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { queryOnce } from '../../tests/support/with-client.ts';
import { signal } from '../platform/process-identity.ts';
import { startEmbeddedPostgres } from './embedded.ts';
import { createListener, type Listener } from './listen.ts';

const notify = (url: string, payload: string) =>
  queryOnce(url, 'SELECT pg_notify($1, $2)', ['news', payload]);

/** `heartbeatMs` is also the time limit of a response. */
function listenTo(url: () => string, heartbeatMs = 5_000) {
  const received: string[] = [];
  const onSession = vi.fn();
  const onLost = vi.fn();
  const channels = { news: (payload: string) => void received.push(payload) };
  const listener: Listener = createListener(
    { url, log: SILENT, heartbeatMs },
    { channels, onSession, onLost },
  );
  onTestFinished(() => listener.close());
  return { listener, received, onSession, onLost };
}

test('a notification arrives with its payload, and none after the end', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { listener, received } = listenTo(() => database.url);
  await vi.waitFor(() => expect(listener.connected()).toBe(true), 20_000);
  await notify(database.url, 'first');
  await vi.waitFor(() => expect(received).toEqual(['first']), 20_000);
  await listener.close();
  expect(listener.connected()).toBe(false);
});

/** Red when the URL is read once, and when a lost session is not replaced. */
test('it listens again after the server was killed and came back on another port', async () => {
  const directory = join(testFolder(), 'postgres');
  let server = await startEmbeddedPostgres({ directory, log: SILENT });
  onTestFinished(() => server.stop());
  const { listener, received, onSession, onLost } = listenTo(() => server.url);
  await vi.waitFor(() => expect(listener.connected()).toBe(true), 20_000);
  signal(server.pid, 'SIGKILL');
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledOnce(), 20_000);
  server = await startEmbeddedPostgres({ directory, log: SILENT });
  await vi.waitFor(() => expect(onSession).toHaveBeenCalledTimes(2), 20_000);
  await notify(server.url, 'again');
  await vi.waitFor(() => expect(received).toEqual(['again']), 20_000);
}, 420_000);

/** Red when the heartbeat has no time limit: the socket of a stopped backend stays open forever. */
test('a server that hangs is noticed', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const { listener, onLost } = listenTo(() => database.url, 300);
  await vi.waitFor(() => expect(listener.connected()).toBe(true), 20_000);
  const pid = await listeningBackend(database.url);
  signal(pid, 'SIGSTOP');
  onTestFinished(() => void signal(pid, 'SIGCONT'));
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledOnce(), 20_000);
}, 420_000);

async function listeningBackend(url: string): Promise<number> {
  const [backend] = await queryOnce<{ pid: number }>(
    url,
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'metergate-listen'`,
  );
  return backend?.pid ?? 0;
}
