import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from '../../infra/postgres/embedded.ts';
import { memoryTmpdir } from './memory-tmpdir.ts';
import { foldersOfDeadRuns } from './processes.ts';
import { SILENT } from './silent-log.ts';
import { createTemplate, dropTemplate } from './test-database.ts';

const PREFIX = 'metergate-test-postgres-';

type StopServer = () => Promise<void>;

/** One for all projects of a run: vitest loads this module once for each of them, all in one process. */
interface DistributedServer {
  server?: Promise<StopServer>;
  users: number;
}
const run = globalThis as { metergateTestServer?: DistributedServer };
run.metergateTestServer ??= { users: 0 };
const shared = run.metergateTestServer;

/**
 * Vitest's globalSetup: one real server for the whole run, its URL in TEST_POSTGRES_URL for the workers.
 * Where that variable is set already, the server it names is used. TEST_RUN_FOLDER names a folder that goes
 * with the run.
 */
export async function setup(): Promise<() => Promise<void>> {
  shared.users += 1;
  shared.server ??= reachServer(process.env.TEST_POSTGRES_URL);
  const stop = await shared.server;
  return async () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    delete shared.server;
    await stop();
  };
}

/** Resolves with what ends it again. */
async function reachServer(given: string | undefined): Promise<StopServer> {
  await clearDeadRuns();
  const directory = mkdtempSync(join(memoryTmpdir(), `${PREFIX}${process.pid}-`));
  // The server's account has to pass through.
  chmodSync(directory, 0o711);
  process.env.TEST_RUN_FOLDER = directory;
  const stop = given === undefined ? await startServer(directory) : await useServer(given);
  return async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true });
  };
}

async function useServer(url: string): Promise<StopServer> {
  await createTemplate(url);
  return () => dropTemplate(url);
}

async function startServer(directory: string): Promise<StopServer> {
  const { url, stop } = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log: SILENT,
    // What a test writes need not outlive it; databases are made and dropped all the time.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  process.env.TEST_POSTGRES_URL = url;
  await createTemplate(url);
  return async () => {
    delete process.env.TEST_POSTGRES_URL;
    await stop();
  };
}

/** A run that was killed leaves its server behind; the next one ends it. */
async function clearDeadRuns(): Promise<void> {
  const parents = [...new Set([memoryTmpdir(), tmpdir()])];
  for (const folder of parents.flatMap((parent) => foldersOfDeadRuns(PREFIX, parent))) {
    const cluster = join(folder, 'postgres');
    if (existsSync(cluster)) await stopEmbeddedPostgres(cluster);
    rmSync(folder, { recursive: true, force: true });
  }
}
