import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts';
import { migratePostgres } from '../infra/postgres/migrate.ts';
import { createPool, inTransaction } from '../infra/postgres/pool.ts';
import { deriveSecrets, ensureIdentityKey } from '../infra/secrets.ts';
import { newWorkspaceKeys, type WorkspaceKeys, writeWorkspace } from '../infra/workspace.ts';
import { newId } from '../schemas/ids.ts';

/** A real data plane process over a Postgres of its own, without a control side. Needs the build. */
export interface DataPlaneUnderTest {
  readonly keys: WorkspaceKeys;
  readonly dataDir: string;
  readonly pool: Pool;
  origin(): string;
  port(): number;
  pid(): number;
  addCustomer(externalId: string): Promise<string>;
  /** Resolves when the process has ended. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** A new process on the same folder and port, after that. */
  restart(): Promise<void>;
  stopPostgres(): Promise<void>;
  remove(): Promise<void>;
}

const READY_TIMEOUT_MS = 15_000;

/** `under` gives what to put before the command of each of its processes, a tracer perhaps. */
export async function startDataPlaneUnderTest(
  env: Record<string, string> = {},
  under: () => string[] = () => [],
): Promise<DataPlaneUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-data-plane-'));
  chmodSync(folder, 0o755); // Postgres may run under another account
  const log = pino({ level: 'silent' });
  const postgres = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), log });
  await migratePostgres(postgres.url);
  const pool = createPool({ url: () => postgres.url, name: 'test', log });
  const secret = randomBytes(32);
  const keys = newWorkspaceKeys();
  const pepper = deriveSecrets(secret).keyPepper;
  await inTransaction(pool, (client) => writeWorkspace(client, { name: 'Test', keys, pepper }));
  await ensureIdentityKey(pool);
  const dataDir = join(folder, 'data');
  const settings = {
    DATABASE_URL: postgres.url,
    SERVER_SECRET: secret.toString('base64'),
    DATA_DIR: dataDir,
  };
  const port = String(quietPort());
  const start = () => launch({ LOG_LEVEL: 'fatal', PORT: port, ...settings, ...env }, under());
  let running = await start();

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(running.child, 'exit');
    running.child.kill(signal);
    await ended;
  }

  return {
    keys,
    dataDir,
    pool,
    origin: () => `http://127.0.0.1:${running.port}`,
    port: () => running.port,
    pid: () => running.child.pid ?? 0,
    async addCustomer(externalId) {
      const id = newId('cus');
      const row = [id, `${keys.workspaceId}:live`, externalId];
      await pool.query(
        `INSERT INTO customers (id, environment, external_id, name, email)
         VALUES ($1, $2, $3, 'Ada', 'a@b.c')`,
        row,
      );
      return id;
    },
    stop: end,
    async restart() {
      running = await start();
    },
    stopPostgres: () => postgres.stop(),
    async remove() {
      running.child.kill('SIGKILL');
      await pool.end();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Below the ports that clients are given (32768… on Linux): a client that knocks at a dead server's port from
 * that very port connects to itself, and then the port is taken.
 */
function quietPort(): number {
  return randomInt(20_000, 30_000);
}

async function launch(
  env: Record<string, string>,
  under: string[],
): Promise<{ child: ChildProcess; port: number }> {
  const [execPath = '', ...execArgv] = [...under, process.execPath];
  const child = fork(join('dist', 'ingest', 'main.js'), {
    env: { ...process.env, ...env },
    execPath,
    execArgv,
  });
  const [message] = await once(child, 'message', { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
  return { child, port: (message as { port: number }).port };
}
