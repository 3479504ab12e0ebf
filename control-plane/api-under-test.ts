import { createServer } from 'node:http';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import type { TSchema } from 'typebox';
import { request } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { newApiKey } from '../domain/rules/api-key.ts';
import { deriveSecrets, hashApiKey } from '../domain/secrets.ts';
import { newWorkspaceKeys, type WorkspaceKeys, writeWorkspace } from '../domain/workspace.ts';
import { type Clock, systemClock } from '../infra/ports/clock.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { UsageWriter } from '../infra/ports/usage-writer.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { createListener } from '../infra/postgres/listen.ts';
import { createPool, inTransaction } from '../infra/postgres/pool.ts';
import { ERROR_STATUS, type ErrorCode } from '../schemas/error-codes.ts';
import { Transient } from '../schemas/failures.ts';
import { environmentOf } from '../schemas/primitives/environment.ts';
import type { ExactNumber } from '../schemas/primitives/exact-json.ts';
import type { Output, Route } from '../schemas/route.ts';
import { type OperationId, ROUTES, type Routes } from '../schemas/routes.ts';
import { listen } from '../tests/support/listen.ts';
import { ofThisFile } from '../tests/support/of-this-file.ts';
import { SILENT } from '../tests/support/silent-log.ts';
import { createTestDatabase } from '../tests/support/test-database.ts';
import type { AppOptions } from './app.ts';
import { createControlPlane } from './control-plane.ts';
import { checkOf } from './http/json-schema.ts';

/**
 * The control plane over HTTP and real stores. Every response is checked against the contract and the route
 * table.
 */
export interface ApiUnderTest {
  keys: WorkspaceKeys;
  /** Live mode of the workspace that has the keys. */
  environment: string;
  pool: Pool;
  usageWriter: UsageWriter;
  origin: string;
  /** Of its database. */
  url: string;
  /**
   * Sends the live secret key by default. Paths start at the root; a body that is not a string is sent as
   * JSON.
   */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
  /** The same call by operation, with its types; the body is the route's example unless one is given. */
  request<Id extends OperationId>(
    operationId: Id,
    input?: Partial<RequestedInput<Routes[Id]>> & Omit<CallOptions, 'body'>,
  ): Promise<ResponseOf<Id>>;
  /** Creates a secret live key in the given state. It may do everything unless `scopes` says otherwise. */
  addKey(state: KeyState): Promise<string>;
  /** Another workspace of the same installation. */
  addWorkspace(): Promise<WorkspaceKeys>;
  close(): Promise<void>;
}

interface RequestedInput<R extends Route> {
  params: Record<keyof R['params']['properties'], string>;
  query: Record<string, string | number>;
  body: unknown;
}

/** As JSON.parse gives it: numbers that are exact inside are numbers here. */
export type Wire<T> = T extends ExactNumber
  ? number
  : T extends object
    ? { [Name in keyof T]: Wire<T[Name]> }
    : T;

export interface KeyState {
  scopes?: string[];
  revokedAt?: Date;
  expiresAt?: Date;
}

export interface CallOptions {
  key?: string | undefined;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects; the schema is checked
  body: any;
}

/** With the type of the operation's body. */
export type ResponseOf<Id extends OperationId> = Omit<ApiResponse, 'body'> & {
  body: Wire<Output<Routes[Id]>>;
};

export interface UsageStores {
  warehouse: Warehouse;
  logReader: EventLogReader;
  /** Made once there is a database for its names. Default: usage of our own cannot be written. */
  openUsageWriter?: (pool: Pool) => UsageWriter;
}

/** Over a database of its own. Without usage stores the log is empty and ClickHouse is unavailable. */
export async function startApi(
  { openUsageWriter, ...stores }: UsageStores = {
    warehouse: UNAVAILABLE_WAREHOUSE,
    logReader: EMPTY_LOG,
  },
  { clock = systemClock, ...options }: AppOptions & { clock?: Clock } = {},
): Promise<ApiUnderTest> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'test', log: SILENT });
  const secrets = deriveSecrets(Buffer.alloc(32, 7));
  const usageWriter = openUsageWriter?.(pool) ?? NO_USAGE_WRITER;
  const plane = createControlPlane(
    { ...stores, pool, secrets, clock, log: SILENT, metrics: new Registry(), usageWriter },
    options,
  );
  const listener = createListener({ url: () => database.url, log: SILENT }, plane.notifications);
  const server = createServer(plane.listener);
  const { url: origin, close } = await listen(server);

  async function addWorkspace(): Promise<WorkspaceKeys> {
    const keys = newWorkspaceKeys();
    await inTransaction(pool, (client) =>
      writeWorkspace(client, { name: 'Test', keys, pepper: secrets.keyPepper }),
    );
    return keys;
  }

  const keys = await addWorkspace();
  const environment = environmentOf(keys.workspaceId, 'live');
  const call: ApiUnderTest['call'] = (method, path, options = {}) =>
    callApi(origin, method, path, { key: keys.live.secret, ...options });
  return {
    keys,
    environment,
    origin,
    pool,
    usageWriter,
    url: database.url,
    addWorkspace,
    async addKey({ scopes = ['*'], revokedAt, expiresAt }) {
      const key = newApiKey('secret', 'live');
      const hash = hashApiKey(key, secrets.keyPepper);
      await pool.query(
        `INSERT INTO api_keys (id, environment, kind, hash, last4, scopes, revoked_at, expires_at)
         VALUES ($1, $2, 'secret', $3, 'test', $4, $5, $6)`,
        [key, environment, hash, scopes, revokedAt, expiresAt],
      );
      return key;
    },
    call,
    request: (operationId, { params = {}, query = {}, ...options } = {}) => {
      const route: Route = ROUTES[operationId];
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent((params as Record<string, string>)[name] ?? ''),
      );
      const search = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) search.set(name, String(value));
      const requested = search.size > 0 ? `${path}?${search}` : path;
      return call(route.method, requested, { ...(route.body ? { body: route.example } : {}), ...options });
    },
    async close() {
      await close();
      await plane.close();
      await listener.close();
      await pool.end();
      await database.drop();
    },
  };
}

/** Another one, for the running test. */
export async function apiOfThisTest(...given: Parameters<typeof startApi>): Promise<ApiUnderTest> {
  const api = await startApi(...given);
  onTestFinished(api.close);
  return api;
}

/** One that all tests of a file share. */
export function apiOfThisFile(...given: Parameters<typeof startApi>): Promise<ApiUnderTest> {
  return ofThisFile(startApi(...given), (api) => api.close());
}

let made = 0;

/** The body of a customer that no other test has made. */
export function newCustomer(): { name: string; email: string; externalId: string } {
  made += 1;
  return { name: `Customer ${made}`, email: `c${made}@example.com`, externalId: `ext-${made}` };
}

const unavailable = () =>
  Promise.reject(new Transient('warehouse_unavailable', 'ClickHouse is unavailable.'));
const NO_USAGE_WRITER: UsageWriter = {
  write: () => Promise.reject(new Transient('usage_not_written', 'There is no data plane.')),
};
const nothing = async () => undefined;
export const UNAVAILABLE_WAREHOUSE: Warehouse = {
  migrate: unavailable,
  insertEvents: unavailable,
  accepts: unavailable,
  query: unavailable,
  close: nothing,
};
export const EMPTY_LOG: EventLogReader = {
  logId: Buffer.alloc(16),
  partitions: 1,
  durableEnds: async () => [0],
  start: async () => 0,
  durableEnd: async () => 0,
  read: async () => [],
  close: nothing,
};

/** Expects the response to be an error with this code, its status and a complete error body. */
export function expectRejection(response: ApiResponse, code: ErrorCode, param?: string): void {
  const { status, body } = response;
  const shown = { status, code: body?.error?.code, param: body?.error?.param };
  expect(shown).toEqual({ status: ERROR_STATUS[code], code, param });
}

async function callApi(
  origin: string,
  method: string,
  path: string,
  { key, body, headers = {} }: CallOptions,
): Promise<ApiResponse> {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const response = await request(`${origin}${path}`, {
    method: method as 'GET',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const isJson = response.headers['content-type'] === 'application/json';
  const seen = {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : undefined,
  };
  checkResponse(method, path, seen);
  return seen;
}

function checkResponse(method: string, path: string, { status, headers, body }: ApiResponse): void {
  expect(headers['x-api-version']).toBe('v1');
  expect(headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,128}$/);
  if (status >= 400 && method !== 'HEAD' && !path.startsWith('/readyz')) {
    expect(body.error.requestId).toBe(headers['x-request-id']);
    expect(ERROR_STATUS[body.error.code as ErrorCode]).toBe(status);
    expect(body.error.message).toBeTruthy();
  }
  const route = routeOf(method, path.split('?')[0] ?? '');
  if (status >= 300 || !route) return;
  expect([route.status, route.otherwise?.status]).toContain(status);
  if (body === undefined) return;
  const response = route.otherwise?.status === status ? route.otherwise.response : route.response;
  const hasTexts = String(headers['preference-applied']).includes('numbers=text');
  checkOf(hasTexts ? withTexts(response) : response)(body);
}

/** The schema of a response with `numbers=text`: each decimal is a string, and nothing else differs. */
function withTexts(response: TSchema): TSchema {
  const replaced = JSON.stringify(response, (_, node) => {
    if (node?.format !== 'decimal') return node;
    const { type, description } = node as { type: string | string[]; description?: string };
    const types = [type].flat().map((one) => (one === 'number' ? 'string' : one));
    return { type: types, description, ...(types[0] === 'string' ? { pattern: '^-?\\d+(\\.\\d+)?$' } : {}) };
  });
  return JSON.parse(replaced) as TSchema;
}

/** A concrete path before a templated one. */
function routeOf(method: string, path: string): Route | undefined {
  const routes = Object.values<Route>(ROUTES).filter((route) => route.method === method);
  const matches = (route: Route) => {
    const pattern = route.path.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.');
    return new RegExp(`^${pattern}$`).test(path);
  };
  return routes.find((route) => route.path === path) ?? routes.find(matches);
}
