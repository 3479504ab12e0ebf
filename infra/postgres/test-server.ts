import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { isAlive } from '../process-identity.ts';
import { startEmbeddedPostgres, stopEmbeddedPostgres } from './embedded.ts';
import { createTemplate, dropTemplate } from './test-database.ts';

const PREFIX = 'metergate-test-postgres-';

/**
 * Vitest's globalSetup: one real server for the whole run, its URL in TEST_POSTGRES_URL for the workers.
 * Where that variable is set already, the server it names is used.
 */
export async function setup(): Promise<() => Promise<void>> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given === undefined) await clearDeadRuns();
  const server = given === undefined ? await startServer() : undefined;
  const url = given ?? server?.url ?? '';
  process.env.TEST_POSTGRES_URL = url;
  await createTemplate(url);
  return async () => {
    if (server) {
      await server.stop();
      delete process.env.TEST_POSTGRES_URL;
    } else {
      await dropTemplate(url);
    }
  };
}

interface TestServer {
  url: string;
  stop(): Promise<void>;
}

async function startServer(): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The server's account has to pass through.
  chmodSync(directory, 0o711);
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    log: pino({ level: 'silent' }),
    // What a test writes need not outlive it; databases are made and dropped all the time.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A run that was killed leaves its server behind; the next one ends it. */
async function clearDeadRuns(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(PREFIX))) {
    const runner = Number(name.slice(PREFIX.length).split('-')[0]);
    if (isAlive(runner)) continue;
    const cluster = join(tmpdir(), name, 'postgres');
    if (existsSync(cluster)) await stopEmbeddedPostgres(cluster);
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}
