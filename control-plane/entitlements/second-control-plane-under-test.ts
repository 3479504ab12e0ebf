import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer } from 'node:http';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { request } from 'undici';
import { deriveSecrets } from '../../domain/secrets.ts';
import { systemClock } from '../../infra/ports/clock.ts';
import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { createListener } from '../../infra/postgres/listen.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import { listen } from '../../tests/support/listen.ts';
import { ofThisFile } from '../../tests/support/of-this-file.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import type { ApiUnderTest, UsageStores, Wire } from '../api-under-test.ts';
import type { AppOptions } from '../app.ts';
import { createControlPlane } from '../control-plane.ts';

export type SecondControlPlane = Awaited<ReturnType<typeof startSecondControlPlane>>;

interface RequestOptions {
  method?: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: unknown;
}

export interface SecondControlPlaneOptions extends AppOptions {
  /** False: it receives no notification. */
  listens?: boolean;
}

/**
 * A second control plane of the same installation, as in another process, that records its requests'
 * statements.
 */
export async function startSecondControlPlane(
  api: ApiUnderTest,
  { warehouse, logReader }: UsageStores,
  { listens = true, ...options }: SecondControlPlaneOptions = {},
) {
  const requested = watchStatements();
  const pool = requested.watchPool(createPool({ url: api.url, name: 'second', log: SILENT }));
  const secrets = deriveSecrets(Buffer.alloc(32, 7));
  const stores = { pool, warehouse: requested.watchWarehouse(warehouse), logReader, secrets };
  const plane = createControlPlane(
    { ...stores, usageWriter: api.usageWriter, clock: systemClock, log: SILENT, metrics: new Registry() },
    options,
  );
  const listener = listens
    ? createListener({ url: () => api.url, log: SILENT }, plane.notifications)
    : undefined;
  const server = createServer((...exchange) => requested.within(() => plane.listener(...exchange)));
  const { port, url: origin, close } = await listen(server);

  async function sendRequest(path: string, { method = 'GET', headers = {}, body }: RequestOptions = {}) {
    const response = await request(`${origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${api.keys.live.secret}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  }

  return {
    port,
    request: sendRequest,
    async check(customerId: string, featureKey: string, query = '') {
      const names = [customerId, featureKey].map(encodeURIComponent);
      const response = await sendRequest(`/entitlements/${names.join('/')}${query}`);
      return { ...response, decision: JSON.parse(response.text) as Wire<EntitlementDecision> };
    },
    /**
     * Statements of requests since the previous call, without those for keys, which are read again every 5 s.
     */
    statements: requested.take,
    async close() {
      await close();
      await plane.close();
      await listener?.close();
      await pool.end();
    },
  };
}

/** One that all tests of a file share. */
export function secondControlPlaneOfThisFile(
  ...given: Parameters<typeof startSecondControlPlane>
): Promise<SecondControlPlane> {
  return ofThisFile(startSecondControlPlane(...given), (plane) => plane.close());
}

/** What is read in the course of a request, not by a timer in the background. */
function watchStatements() {
  const requests = new AsyncLocalStorage<true>();
  let seen: string[] = [];
  const record = (text: string) => {
    if (requests.getStore() && !text.includes('api_keys')) seen.push(text);
  };
  return {
    within: (work: () => void) => requests.run(true, work),
    take(): string[] {
      const taken = seen;
      seen = [];
      return taken;
    },
    watchPool(pool: Pool): Pool {
      const { connect, query } = pool;
      pool.query = ((...args: unknown[]) => {
        const [statement] = args as [string | { text: string }];
        record(typeof statement === 'string' ? statement : statement.text);
        return Reflect.apply(query, pool, args);
      }) as Pool['query'];
      pool.connect = ((...args: unknown[]) => {
        // With a callback the pool itself connects, for a statement that is recorded above.
        if (args.length === 0) record('a transaction');
        return Reflect.apply(connect, pool, args);
      }) as Pool['connect'];
      return pool;
    },
    watchWarehouse: (warehouse: Warehouse): Warehouse => ({
      ...warehouse,
      query<Row>(statement: Statement) {
        record(statement.sql);
        return warehouse.query<Row>(statement);
      },
    }),
  };
}
