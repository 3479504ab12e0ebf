import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRelational } from '../../app/roles/relational.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testClient } from '../../tests/support/test-client.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { createCloser } from '../platform/closer.ts';
import { isAlive, signal } from '../platform/process-identity.ts';
import { type EmbeddedPostgresOptions, startEmbeddedPostgres, stopEmbeddedPostgres } from './embedded.ts';
import { findPostmaster } from './postmaster.ts';

/** What a server is ended after in these tests that neither takes connections nor asks to wait. */
const SILENCE_MS = 5_000;

/** Red when such a server is ended as one that hangs: its recovery starts from the beginning. */
test('a server that is starting up is waited for, however long, and a line is logged', async () => {
  const { directory, release } = await heldCluster();
  const notified: unknown[] = [];
  const log = pino({}, { write: (line: string) => void notified.push(JSON.parse(line)) });
  const started = start({ directory, log });
  await vi.waitFor(() => expect(findPostmaster(directory)).toBeDefined(), 20_000);
  const servers = Promise.all([started, start({ directory, log })]);
  const line = { msg: 'waiting for Postgres', reason: 'the database system is starting up' };
  const lines = () => notified.filter((one) => expect.objectContaining(line).asymmetricMatch(one));
  await Promise.race([servers, vi.waitFor(() => expect(lines()).toHaveLength(2), 60_000)]);
  await release();
  const [{ pid }, second] = await servers;
  expect(second).toMatchObject({ pid, adopted: true });
  expect(lines()).toMatchObject([{ postmaster: pid }, { postmaster: pid }]);
});

/** It gives new clients the same code. Red when that alone is waited for: it stays as long as the old one. */
test('a server on its way out that does not get there is ended', async () => {
  const directory = join(testFolder(), 'postgres');
  onTestFinished(() => stopEmbeddedPostgres(directory));
  const { pid, url } = await start({ directory });
  await testClient(url);
  signal(pid, 'SIGTERM');
  expect((await start({ directory })).pid).not.toBe(pid);
});

/** Red when it has an owner only once it takes connections: the stop is over at once and it runs on. */
test('a stop gives up a start and ends its server', async () => {
  const { directory } = await heldCluster();
  const closer = createCloser(SILENT, { stepTimeoutMs: 30_000 });
  const options = { directory, log: SILENT, closer, verify: async () => undefined, onMoved: () => undefined };
  const opened = openRelational(options);
  const rejected = expect(opened).rejects.toThrow();
  const { pid } = await vi.waitUntil(() => findPostmaster(directory), 20_000);
  await closer.close();
  expect(isAlive(pid)).toBe(false);
  await rejected;
  expect(findPostmaster(directory)).toBeUndefined();
});

function start(options: Omit<EmbeddedPostgresOptions, 'log'> & Partial<EmbeddedPostgresOptions>) {
  return startEmbeddedPostgres({ log: SILENT, silenceMs: SILENCE_MS, ...options });
}

/** Its next start reads the statistics from a pipe, before it takes connections and until `release`. */
async function heldCluster() {
  const directory = join(testFolder(), 'postgres');
  onTestFinished(() => stopEmbeddedPostgres(directory));
  await (await start({ directory })).stop();
  const statistics = join(directory, 'pg_stat', 'pgstat.stat');
  rmSync(statistics);
  execFileSync('mkfifo', [statistics]);
  return { directory, release: () => writeFile(statistics, '') };
}
