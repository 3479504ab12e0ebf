import { Pool } from 'undici';
import { parseExact } from './exact.ts';

/** A small client of the public API. It knows nothing of the product but its contract. */
export interface Api {
  call(method: Method, path: string, options?: CallOptions): Promise<ApiAnswer>;
  close(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface CallOptions {
  body?: string | Buffer;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** As `parseExact` reads it; undefined when the body is empty or no JSON. */
  body: unknown;
}

export interface ApiOptions {
  origin: string;
  key: string;
  connections: number;
  /** Called as soon as an answer begins to arrive: nothing of it was read yet but its head. */
  onAnswer?: () => void;
}

const ANSWER_TIMEOUT_MS = 20_000;

/** Paths are below /api/v1. Rejects when no whole answer came. */
export function createApi({ origin, key, connections, onAnswer }: ApiOptions): Api {
  const pool = new Pool(origin, { connections, connectTimeout: 2_000 });
  return {
    async call(method, path, { body, headers = {}, timeoutMs = ANSWER_TIMEOUT_MS } = {}) {
      const answer = await pool.request({
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
      onAnswer?.();
      const text = await answer.body.text();
      const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: isJson && text !== '' ? parseExact(text) : undefined,
      };
    },
    close: () => pool.destroy(),
  };
}

/**
 * Repeats a read while the answer is 503 or none comes; throws the last outcome when the time is over, or
 * when whoever asked is leaving.
 */
export async function getPatiently(
  api: Api,
  path: string,
  patienceMs: number,
  leaving?: AbortSignal,
): Promise<ApiAnswer> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const answer = await api.call('GET', path).catch((error: unknown) => error as Error);
    if (!(answer instanceof Error) && answer.status !== 503) return answer;
    if (Date.now() > until || leaving?.aborted)
      throw new Error(`GET ${path} found no answer: ${shown(answer)}`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

function shown(answer: ApiAnswer | Error): string {
  if (answer instanceof Error) return answer.message;
  return `${answer.status} ${JSON.stringify(answer.body)}`;
}
