import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Role } from '../../app/config/role-needs.ts';
import { type Closer, createCloser } from '../../infra/platform/closer.ts';
import { startPostgresProcess } from '../servers/postgres-process.ts';
import { startKafka } from '../servers/start-kafka.ts';
import { startRedis } from '../servers/start-redis.ts';
import type { StoreProcess } from '../servers/store-process.ts';
import type { TestingServer } from '../servers/testing-server.ts';
import { startWarehouseProcess } from '../servers/warehouse-process.ts';
import { createApi } from './api.ts';
import type { Judged } from './compare.ts';
import type { DemoKeys } from './instance.ts';
import { createLedger } from './ledger.ts';
import { makeWorld } from './make-world.ts';
import { type ArmedProxy, openHop } from './proxy/armed-proxy.ts';
import type { Address } from './proxy/tcp-proxy.ts';
import { quietPort } from './quiet-port.ts';
import { type RunningRole, runRoleProcess } from './running-role.ts';
import { SILENT } from './silent-log.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

/** A Metergate past one process of anything: real servers, and so many processes of each role. */
export interface DistributedInstallation {
  roles: Record<Role, RunningRole[]>;
  kafka: TestingServer;
  redis: TestingServer;
  postgres: StoreProcess;
  warehouse: StoreProcess;
  keys: DemoKeys;
  /** Through the balancer before the ingest processes. */
  judged: Judged;
  /** The environment of every process. */
  environment: Record<string, string>;
  /** The proxies in front of broker and key store, where requested. */
  hops?: Hops;
  /** One more process, which its caller stops. */
  add(role: Role): Promise<RunningRole>;
  /** Ends all of it, whatever state it is in. With `keep` the logs stay: resolves with where they are. */
  close(how?: { keep: boolean }): Promise<string | undefined>;
}

export type Hops = Record<'kafka' | 'redis', ArmedProxy>;

export interface InstallationOptions {
  /** Of each role, but for those that are named. */
  processes: number;
  but?: Partial<Record<Role, number>>;
  /** Everything that is said to broker and key store goes through proxies. */
  throughProxies?: boolean;
  connections: number;
  environment?: Record<string, string>;
}

/** Of a store that hangs, and processes that wait for it. */
const CLOSE_STEP_MS = 30_000;
const ROLES: readonly Role[] = ['control-plane', 'ingest', 'aggregator', 'delivery'];

export async function startInstallation(options: InstallationOptions): Promise<DistributedInstallation> {
  const closer = createCloser(SILENT, { stepTimeoutMs: CLOSE_STEP_MS });
  const folder = mkdtempSync(join(tmpdir(), 'metergate-distributed-'));
  // Postgres may run under another account, which has to get through here.
  chmodSync(folder, 0o755);
  let keeps = false;
  closer.add('folder', { close: () => keeps || rmSync(folder, { recursive: true, force: true }) });
  try {
    const started = await startIn(folder, closer, options);
    return {
      ...started,
      async close({ keep } = { keep: false }) {
        keeps = keep;
        await closer.close();
        return keep ? folder : undefined;
      },
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}

async function startIn(
  folder: string,
  closer: Closer,
  { processes, but = {}, connections, environment: given, throughProxies = false }: InstallationOptions,
): Promise<Omit<DistributedInstallation, 'close'>> {
  const stores = await startStores(folder, closer, throughProxies);
  const roles: DistributedInstallation['roles'] = {
    ingest: [],
    aggregator: [],
    'control-plane': [],
    delivery: [],
  };
  const before = (role: Role) => openBalancer(closer, () => roles[role].map(({ address }) => address));
  const [controlPlane, ingest] = [await before('control-plane'), await before('ingest')];
  const environment = {
    ...stores.environment,
    ...SETTINGS,
    DATA_DIR: join(folder, 'unused'),
    CONTROL_PLANE_URL: controlPlane.url,
    SERVER_SECRET: randomBytes(32).toString('base64'),
    ...given,
  };
  const add = async (role: Role) => {
    const running = await runRoleProcess(role, { port: await quietPort(), environment, folder });
    closer.add(`${role} ${running.address.port}`, { drain: () => running.kill() });
    return running;
  };
  for (const role of ROLES) {
    const started = Array.from({ length: but[role] ?? processes }, () => add(role));
    roles[role].push(...(await Promise.all(started)));
  }
  const keys = await makeWorkspace(environment);
  const api = createApi({ origin: ingest.url, key: keys.live.secret, connections });
  closer.add('api', { close: () => api.close() });
  const world = await makeWorld(api);
  const judged = { api, world, ledger: createLedger(world) };
  const { environment: _, ...servers } = stores;
  return { ...servers, roles, keys, judged, environment, add };
}

/** So that two aggregators have to give up some of theirs to a third one. */
export const PARTITIONS = 5;
/** One broker: it cannot replicate. Small ranges, so that there are many. */
const SETTINGS = {
  LOG_LEVEL: 'warn',
  KAFKA_PARTITIONS: String(PARTITIONS),
  KAFKA_REPLICATION: '1',
  KAFKA_MIN_ISR: '1',
  LOAD_LINGER_MS: '300',
  WEBHOOK_ALLOW_PRIVATE: 'true',
};

async function startStores(folder: string, closer: Closer, throughProxies: boolean) {
  const running: Partial<Record<keyof Hops, TestingServer>> = {};
  const hop = (name: keyof Hops) => openHop(closer, () => addressOf(running[name]?.url));
  const hops = throughProxies ? { kafka: await hop('kafka'), redis: await hop('redis') } : undefined;
  const [kafka, redis, postgres, warehouse] = await Promise.all([
    startKafka(hops ? { settings: advertised(hops.kafka) } : {}),
    startRedis(),
    startPostgresProcess(join(folder, 'postgres')),
    startWarehouseProcess(join(folder, 'warehouse')),
  ]);
  Object.assign(running, { kafka, redis });
  closer.add('kafka', { close: () => kafka.stop() });
  closer.add('redis', { close: () => redis.stop() });
  closer.add('postgres', { close: () => postgres.kill() });
  closer.add('warehouse', { close: () => warehouse.kill() });
  // Both come back on other ports, and a URL stays.
  const postgresBalancer = await openBalancer(closer, () => [postgres.address()]);
  const warehouseBalancer = await openBalancer(closer, () => [warehouse.address()]);
  const environment = {
    KAFKA_BROKERS: hops ? `127.0.0.1:${hops.kafka.port}` : kafka.url,
    REDIS_URL: hops ? `redis://127.0.0.1:${hops.redis.port}` : redis.url,
    DATABASE_URL: postgres.urlThrough(postgresBalancer.address.port),
    CLICKHOUSE_URL: warehouseBalancer.url,
  };
  return { kafka, redis, postgres, warehouse, environment, ...(hops ? { hops } : {}) };
}

/** Clients go where the broker says that it is. */
function advertised(hop: ArmedProxy): Record<string, string> {
  return { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${hop.port}` };
}

/** `host:port`, or a URL. */
function addressOf(url = ''): Address {
  const [host = '', port] = url.replace(/^.*\/\//, '').split(':');
  return { host, port: Number(port) };
}

async function openBalancer(closer: Closer, targets: () => Address[]) {
  const balancer = await startTcpBalancer(targets);
  closer.add('balancer', { close: () => balancer.close() });
  return balancer;
}

const ADMIN = join('dist', 'app', 'admin', 'admin-command.js');
const ADMIN_TIMEOUT_MS = 30_000;

async function makeWorkspace(environment: Record<string, string>): Promise<DemoKeys> {
  const options = [ADMIN, 'workspace', 'create', '--name', 'Distributed', '--json'];
  const env = { ...process.env, ...environment };
  const { stdout } = await promisify(execFile)(process.execPath, options, { env, timeout: ADMIN_TIMEOUT_MS });
  return JSON.parse(stdout) as DemoKeys;
}
