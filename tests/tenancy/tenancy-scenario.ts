import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import { pino } from 'pino';
import type { WorkspaceKeys } from '../../domain/workspace.ts';
import { type Closer, createCloser } from '../../infra/platform/closer.ts';
import { poll } from '../../infra/platform/poll.ts';
import { environmentOf, type Mode } from '../../schemas/primitives/environment.ts';
import { type PostgresProcess, startPostgresProcess } from '../servers/postgres-process.ts';
import { type Instance, startInstance } from '../support/instance.ts';
import { startTcpProxy, type TcpProxy } from '../support/proxy/tcp-proxy.ts';
import { makeObjects, type Tenant } from './make-objects.ts';
import type { Objects } from './tenant-requests.ts';
import { createWatchedClient, type WatchedClient } from './watched-client.ts';

/**
 * A whole Metergate with two workspaces on a Postgres of its own, which it reaches through a proxy: what it
 * listens to can be cut while its queries are served.
 */
export interface TenancyScenario {
  instance: Instance;
  /** Straight to its Postgres. */
  pool: Pool;
  client: WatchedClient;
  alpha: WorkspaceKeys;
  beta: WorkspaceKeys;
  /** Each has one of everything. The first is the one that others must not see. */
  tenants: Record<TenantName, Tenant & { objects: Objects }>;
  /** `npm run admin` as npm starts it. Rejects when it ends with a code but 0. */
  admin(args: string[], settings?: Record<string, string>): Promise<{ stdout: string }>;
  /** Until it is restored no session of Metergate receives a notification. Resolves when none does. */
  cutListening(): Promise<void>;
  restoreListening(): void;
  /** The server's secret and the password of its Postgres. */
  secrets: string[];
  postgresLog(): string;
  close(): Promise<void>;
}

export type TenantName = 'alpha live' | 'alpha test' | 'beta live';

/** The application name of its listening sessions, as the first bytes of each carry it. */
const LISTENER = 'metergate-listen';
const CUT_WITHIN = { timeoutMs: 30_000, everyMs: 20 };
const NOTIFIED_WITHIN = { timeoutMs: 30_000, everyMs: 50 };
const CLOSE_STEP_MS = 30_000;
const ADMIN_TIMEOUT_MS = 60_000;

export async function openTenancyScenario(environment: Record<string, string>): Promise<TenancyScenario> {
  const closer = createCloser(pino({ level: 'silent' }), { stepTimeoutMs: CLOSE_STEP_MS });
  try {
    return await open(environment, closer);
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function open(environment: Record<string, string>, closer: Closer): Promise<TenancyScenario> {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-tenancy-'));
  // The database server may run under another account, which has to get through here.
  chmodSync(folder, 0o755);
  closer.add('folder', { close: () => rmSync(folder, { recursive: true, force: true }) });
  const directory = join(folder, 'postgres');
  const postgres = await startPostgresProcess(directory);
  closer.add('postgres', { close: () => postgres.stop() });
  const line = await openLine(postgres, closer);
  const secret = randomBytes(32).toString('base64');
  const settings = {
    ...{ SERVER_SECRET: secret, DATABASE_URL: postgres.urlThrough(line.proxy.port) },
    WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  const instance = await startInstance({ ...environment, ...settings });
  closer.add('instance', { close: () => instance.remove() });
  // The instance looks there for the pid of an embedded server.
  mkdirSync(join(instance.dataDir, 'postgres'), { recursive: true });
  const client = createWatchedClient(instance.origin);
  closer.add('client', { close: () => client.close() });
  const admin = adminOf({ DATA_DIR: instance.dataDir, SERVER_SECRET: secret });
  const [alpha, beta] = [await newWorkspace(admin, 'Alpha'), await newWorkspace(admin, 'Beta')];
  const secrets = [
    secret,
    Buffer.from(secret, 'base64').toString('hex'),
    new URL(settings.DATABASE_URL).password,
  ];
  const postgresLog = () => readFileSync(`${directory}.log`, 'utf8');
  const { pool, cutListening, restoreListening } = line;
  const tenants = {
    'alpha live': await newTenant(client, alpha, 'live'),
    'alpha test': await newTenant(client, alpha, 'test'),
    'beta live': await newTenant(client, beta, 'live'),
  };
  await untilNotified(pool);
  const scenario = { instance, pool, client, alpha, beta, tenants, admin, cutListening, restoreListening };
  return { ...scenario, secrets, postgresLog, close: () => closer.close() };
}

/** Delivery has done with every event: no row changes behind the back of who compares them. */
async function untilNotified(pool: Pool): Promise<void> {
  const isNotified = async () => {
    const { rows } = await pool.query(
      `SELECT FROM webhook_events WHERE NOT fanned_out UNION ALL SELECT FROM webhook_queue LIMIT 1`,
    );
    return rows.length === 0 || undefined;
  };
  if (!(await poll(isNotified, NOTIFIED_WITHIN))) throw new Error('delivery does not come to rest');
}

interface Line extends Pick<TenancyScenario, 'pool' | 'cutListening' | 'restoreListening'> {
  proxy: TcpProxy;
}

async function openLine(postgres: PostgresProcess, closer: Closer): Promise<Line> {
  let isCut = false;
  const target = () => postgres.address();
  const proxy = await startTcpProxy({
    target,
    fault: (request) => (isCut && request.includes(LISTENER) ? { kind: 'lose' } : undefined),
  });
  closer.add('proxy', { close: () => proxy.close() });
  const pool = new Pool({ connectionString: postgres.urlThrough(target().port), max: 2 });
  pool.on('error', () => undefined);
  closer.add('pool', { close: () => pool.end() });
  return {
    proxy,
    pool,
    async cutListening() {
      isCut = true;
      const none = async () => ((await endListeners(pool)) === 0 ? true : undefined);
      if (!(await poll(none, CUT_WITHIN))) throw new Error('somebody still listens');
    },
    restoreListening() {
      isCut = false;
    },
  };
}

async function endListeners(pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
    [LISTENER],
  );
  return rowCount ?? 0;
}

function adminOf(settings: Record<string, string>): TenancyScenario['admin'] {
  const run = promisify(execFile);
  return async (args, more = {}) => {
    const env = { ...process.env, ...settings, ...more };
    return await run('npm', ['run', '--silent', 'admin', '--', ...args], { env, timeout: ADMIN_TIMEOUT_MS });
  };
}

async function newWorkspace(admin: TenancyScenario['admin'], name: string): Promise<WorkspaceKeys> {
  const { stdout } = await admin(['workspace', 'create', '--name', name, '--json']);
  return JSON.parse(stdout) as WorkspaceKeys;
}

async function newTenant(client: WatchedClient, keys: WorkspaceKeys, mode: Mode) {
  const environment = environmentOf(keys.workspaceId, mode);
  const tenant = { name: environment.slice(-9).replace(':', '-'), environment, key: keys[mode].secret };
  return { ...tenant, objects: await makeObjects(client, tenant) };
}
