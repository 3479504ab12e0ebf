import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Closer, createCloser } from '../../../infra/platform/closer.ts';
import { startPostgresProcess } from '../../servers/postgres-process.ts';
import type { StoreProcess } from '../../servers/store-process.ts';
import { startWarehouseProcess } from '../../servers/warehouse-process.ts';
import { createApi } from '../../support/api.ts';
import type { Judged } from '../../support/compare.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger } from '../../support/ledger.ts';
import { makeWorld } from '../../support/make-world.ts';
import { type ArmedProxy, openHop } from '../../support/proxy/armed-proxy.ts';
import type { Address } from '../../support/proxy/tcp-proxy.ts';
import { compareServedRows } from '../../support/stored-events.ts';
import type { FaultOptions } from '../promise.ts';

/**
 * An installation whose stores are servers of their own, as an operator's are: a Postgres by DATABASE_URL and
 * a ClickHouse by CLICKHOUSE_URL, each behind a proxy, and a third proxy before the public port.
 */
export interface OutageScenario {
  instance: Instance;
  /** Straight to the public port. */
  judged: Judged;
  /** Through the proxy before it, with the same ledger. */
  throughProxy: Judged;
  stores: Record<StoreName, StoreProcess>;
  hops: Record<Hop, ArmedProxy>;
}

export type StoreName = 'postgres' | 'warehouse';
export type Hop = StoreName | 'client';

const CONNECTIONS = 32;
/** Many inserts are to pass: each is a chance to lose a response. */
const ENVIRONMENT = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5' };
/** Of an installation whose stores hang. */
const CLOSE_STEP_MS = 30_000;

export async function openOutageScenario({ onEnd }: FaultOptions): Promise<OutageScenario> {
  const closer = createCloser(pino({ level: 'silent' }), { stepTimeoutMs: CLOSE_STEP_MS });
  const folder = mkdtempSync(join(tmpdir(), 'metergate-outage-'));
  // Postgres may run under another account, which has to get through here.
  chmodSync(folder, 0o755);
  let keeps = false;
  onEnd(async ({ keep }) => {
    keeps = keep;
    await closer.close();
    return keep ? folder : undefined;
  });
  closer.add('folder', { close: () => keeps || rmSync(folder, { recursive: true, force: true }) });
  const stores = await startStores(folder, closer);
  const hops = { ...stores.hops, client: await openHop(closer, () => addressOf(instance.origin)) };
  const instance = await startInstance({ ...ENVIRONMENT, ...stores.environment });
  onEnd(async ({ keep }) => {
    // Nothing ends in order while its stores are frozen.
    for (const { thaw } of Object.values(stores.processes)) await thaw();
    return keep ? await instance.leave() : await instance.remove();
  });
  const apiTo = (origin: string) => {
    const api = createApi({ origin, key: instance.keys().live.secret, connections: CONNECTIONS });
    onEnd(() => api.close());
    return api;
  };
  const api = apiTo(instance.origin);
  const world = await makeWorld(api);
  const judged = { api, world, ledger: createLedger(world) };
  const throughProxy = { ...judged, api: apiTo(`http://127.0.0.1:${hops.client.port}`) };
  return { instance, judged, throughProxy, hops, stores: stores.processes };
}

async function startStores(folder: string, closer: Closer) {
  const postgres = await startPostgresProcess(join(folder, 'postgres'));
  closer.add('postgres', { close: () => postgres.stop() });
  const warehouse = await startWarehouseProcess(join(folder, 'warehouse'));
  closer.add('warehouse', { close: () => warehouse.kill() });
  const hops = {
    postgres: await openHop(closer, postgres.address),
    warehouse: await openHop(closer, warehouse.address),
  };
  const environment = {
    DATABASE_URL: postgres.urlThrough(hops.postgres.port),
    CLICKHOUSE_URL: `http://127.0.0.1:${hops.warehouse.port}`,
    SERVER_SECRET: randomBytes(32).toString('base64'),
  };
  return { processes: { postgres, warehouse }, hops, environment };
}

function addressOf(origin: string): Address {
  const { hostname, port } = new URL(origin);
  return { host: hostname, port: Number(port) };
}

/** The rows that the server itself has, not through the proxy. */
export function compareServed({ stores }: OutageScenario): (judged: Judged) => Promise<string[]> {
  const { host, port } = stores.warehouse.address();
  return ({ ledger }) => compareServedRows(`http://${host}:${port}`, ledger);
}
