import { Pool } from 'undici';
import { parseExact } from './exact.ts';

/** A small client of the public API. It knows nothing of the product but its contract. */
export interface Api {
  call(method: Method, path: string, options?: CallOptions): Promise<ApiResponse>;
  close(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface CallOptions {
  body?: string | Buffer;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface ApiResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** As `parseExact` reads it; undefined when the body is empty or no JSON. */
  body: unknown;
}

export interface ApiOptions {
  origin: string;
  key: string;
  connections: number;
  /** Called when a response begins to arrive: only its head has been read. */
  onResponse?: () => void;
}

const RESPONSE_TIMEOUT_MS = 20_000;

/** Paths are below /api/v1. Rejects when no whole response came. */
export function createApi({ origin, key, connections, onResponse }: ApiOptions): Api {
  const pool = new Pool(origin, { connections, connectTimeout: 2_000 });
  return {
    async call(method, path, { body, headers = {}, timeoutMs = RESPONSE_TIMEOUT_MS } = {}) {
      const response = await pool.request({
        method,
        path: `/api/v1${path}`,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      onResponse?.();
      const text = await response.body.text();
      const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
      return {
        status: response.statusCode,
        headers: response.headers,
        body: isJson && text !== '' ? parseExact(text) : undefined,
      };
    },
    close: () => pool.destroy(),
  };
}

const DONE_TIMEOUT_MS = 60_000;

/** Sends a JSON body and returns the body of the response. Throws unless the status is 2xx. */
export async function callDone(
  api: Api,
  method: Method,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const options: CallOptions = { timeoutMs: DONE_TIMEOUT_MS };
  if (body) options.body = JSON.stringify(body);
  const response = await api.call(method, path, options);
  if (response.status >= 300) throw new Error(`${method} ${path} returned ${shown(response)}`);
  return response.body as Record<string, unknown>;
}

/**
 * Repeats a read while the response is 503 or none comes; throws the last outcome when the time is over, or
 * when the caller's signal aborts.
 */
export async function getPatiently(
  api: Api,
  path: string,
  patienceMs: number,
  leaving?: AbortSignal,
): Promise<ApiResponse> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const response = await api.call('GET', path).catch((error: unknown) => error as Error);
    if (!(response instanceof Error) && response.status !== 503) return response;
    if (Date.now() > until || leaving?.aborted)
      throw new Error(`GET ${path} received no response: ${shown(response)}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

function shown(response: ApiResponse | Error): string {
  if (response instanceof Error) return response.message;
  return `${response.status} ${JSON.stringify(response.body)}`;
}
