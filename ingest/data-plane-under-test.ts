import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveSecrets, ensureIdentityKey } from '../domain/secrets.ts';
import { notifyChange } from '../domain/store/notify-change.ts';
import { newWorkspaceKeys, type WorkspaceKeys, writeWorkspace } from '../domain/workspace.ts';
import { type Closer, createCloser } from '../infra/platform/closer.ts';
import { startEmbeddedPostgres } from '../infra/postgres/embedded.ts';
import { migratePostgres } from '../infra/postgres/migrate.ts';
import { createPool, inTransaction } from '../infra/postgres/pool.ts';
import { newId } from '../schemas/primitives/ids.ts';
import type { EventSource } from '../schemas/resources/meters.ts';
import { endChild } from '../tests/support/child-end.ts';
import { quietPort } from '../tests/support/quiet-port.ts';
import { SILENT } from '../tests/support/silent-log.ts';

/** A real data plane process over a Postgres of its own, without a control side. Needs the build. */
export interface DataPlaneUnderTest {
  readonly keys: WorkspaceKeys;
  readonly dataDir: string;
  origin(): string;
  port(): number;
  pid(): number;
  addCustomer(externalId: string): Promise<string>;
  /** A `sum` meter that counts events of other formats. */
  addMeter(key: string, eventSource: EventSource): Promise<void>;
  /** Resolves when the process has ended, with its exit code; null after SIGKILL. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
  /** A new process on the same folder and port, after that. */
  restart(): Promise<void>;
  stopPostgres(): Promise<void>;
  remove(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
/** Of a drain, or a kill. */
const END_TIMEOUT_MS = 60_000;

/**
 * `under` gives what to put before the command of each of its processes, a tracer perhaps. A start that fails
 * leaves nothing behind.
 */
export async function startDataPlaneUnderTest(
  env: Record<string, string> = {},
  under: () => string[] = () => [],
): Promise<DataPlaneUnderTest> {
  const closer = createCloser(SILENT, { stepTimeoutMs: END_TIMEOUT_MS });
  try {
    return await startOver(closer, env, under);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function startOver(
  closer: Closer,
  env: Record<string, string>,
  under: () => string[],
): Promise<DataPlaneUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-data-plane-'));
  closer.add('folder', { close: () => rmSync(folder, { recursive: true, force: true }) });
  chmodSync(folder, 0o755); // Postgres may run under another account
  const postgres = await startEmbeddedPostgres({ directory: join(folder, 'postgres'), log: SILENT });
  closer.add('postgres', { close: () => postgres.stop() });
  await migratePostgres(postgres.url);
  const pool = createPool({ url: () => postgres.url, name: 'test', log: SILENT });
  closer.add('pool', { close: () => pool.end() });
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
  const port = String(await quietPort());
  const start = () => launch({ LOG_LEVEL: 'fatal', PORT: port, ...settings, ...env }, under());
  let running = await start();
  closer.add('data plane', { close: async () => void (await endChild(running.child)) });

  return {
    keys,
    dataDir,
    origin: () => `http://127.0.0.1:${running.port}`,
    port: () => running.port,
    pid: () => running.child.pid ?? 0,
    async addCustomer(externalId) {
      const id = newId('cus');
      await pool.query(
        `INSERT INTO customers (id, environment, external_id, name, email)
         VALUES ($1, $2, $3, 'Ada', 'a@b.c')`,
        [id, `${keys.workspaceId}:live`, externalId],
      );
      return id;
    },
    async addMeter(key, eventSource) {
      const environment = `${keys.workspaceId}:live`;
      await pool.query(
        `INSERT INTO meters (id, environment, key, name, aggregation, event_source)
         VALUES ($1, $2, $3, $3, 'sum', $4)`,
        [newId('meter'), environment, key, eventSource],
      );
      await notifyChange(pool, { kind: 'meter', environment, id: key });
    },
    stop: (signal) => endChild(running.child, signal, END_TIMEOUT_MS),
    async restart() {
      running = await start();
    },
    stopPostgres: () => postgres.stop(),
    remove: () => closer.close(),
  };
}

async function launch(
  env: Record<string, string>,
  under: string[],
): Promise<{ child: ChildProcess; port: number }> {
  const [execPath = '', ...execArgv] = [...under, process.execPath];
  const child = fork(join('dist', 'app', 'roles', 'ingest.js'), {
    env: { ...process.env, ...env },
    execPath,
    execArgv,
  });
  try {
    // Rejects too where the command cannot be run.
    const [message] = await once(child, 'message', { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
    return { child, port: (message as { port: number }).port };
  } catch (error) {
    await endChild(child);
    throw error;
  }
}
