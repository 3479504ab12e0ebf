import { Pool } from 'undici';
import type { OperationId } from '../../schemas/routes.ts';
import type { TenantRequest } from './tenant-requests.ts';

/** A client that keeps every response, to be searched for what it must not show. */
export interface WatchedClient {
  readonly responses: readonly WatchedResponse[];
  ask(request: RequestedRequest, key: string | undefined): Promise<WatchedResponse>;
  close(): Promise<void>;
}

export type RequestedRequest = Pick<TenantRequest, 'operationId' | 'route' | 'path'> & {
  /** Text and bytes are sent as they are. */
  body?: unknown;
  headers?: Record<string, string>;
};

export interface WatchedResponse {
  operationId: OperationId;
  /** Of the request: what it named itself may be repeated to it. */
  requested: string;
  status: number;
  /** Of the error. */
  code: string | undefined;
  headers: string;
  text: string;
}

const CONNECTIONS = 8;
const TIMEOUT_MS = 20_000;

export function createWatchedClient(origin: string): WatchedClient {
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  const responses: WatchedResponse[] = [];
  let count = 0;
  return {
    responses,
    async ask({ operationId, route, path, body, headers = {} }, key) {
      count += 1;
      const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
      const sent = isRaw ? body : JSON.stringify(body);
      const response = await pool.request({
        method: route.method,
        path,
        headers: {
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
          ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
          // An operation of the data plane cannot do without one; each of ours is another request.
          'idempotency-key': `tenancy-${count}`,
          ...headers,
        },
        ...(sent === undefined ? {} : { body: sent }),
      });
      const text = await response.body.text();
      const seen = {
        operationId,
        requested: `${path} ${String(sent)}`,
        status: response.statusCode,
        code: response.statusCode < 400 ? undefined : codeIn(text),
        headers: JSON.stringify(response.headers),
        text,
      };
      responses.push(seen);
      return seen;
    },
    close: () => pool.destroy(),
  };
}

function codeIn(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}
