import { currentKey } from '../app/session.ts';
import { exactBody } from './exact-body.ts';

/** One request of the console to its own origin. */
export interface ApiRequest {
  method: string;
  /** From the root. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export interface ApiResponse {
  body: unknown;
  etag: string | undefined;
  receivedAtMs: number;
}

/** The service said no, or was not reached (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** As it was sent: `/readyz` says with 503 what is wrong. */
  readonly body: unknown;

  constructor(status: number, { code, message, param, requestId }: ErrorBody, body?: unknown) {
    super(message);
    this.body = body;
    this.status = status;
    this.code = code;
    this.param = param;
    this.requestId = requestId;
  }
}

interface ErrorBody {
  code: string;
  message: string;
  param?: string;
  requestId?: string;
}

const TIMEOUT_MS = 20_000;
/** What a response says in place of numbers that a double would round. */
const EXACT = { Prefer: 'numbers=text' };

/** With the key of the session, or with that one. Throws ApiError; throws the reason of an abort. */
export async function send(
  request: ApiRequest,
  { key = currentKey(), signal }: { key?: string | undefined; signal?: AbortSignal } = {},
): Promise<ApiResponse> {
  const response = await reach(request, key, signal);
  const text = await response.text();
  const body = read(text);
  if (!response.ok) throw new ApiError(response.status, errorOf(body, response.status), body);
  return { body, etag: response.headers.get('ETag') ?? undefined, receivedAtMs: Date.now() };
}

async function reach({ method, path, body, headers }: ApiRequest, key?: string, signal?: AbortSignal) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(path, {
      method,
      headers: {
        ...EXACT,
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: exactBody(body) }),
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch {
    signal?.throwIfAborted();
    throw new ApiError(0, timeout.aborted ? SLOW : UNREACHABLE);
  }
}

const SLOW: ErrorBody = {
  code: 'timeout',
  message: `The service did not respond within ${TIMEOUT_MS / 1000} s. Try again.`,
};
const UNREACHABLE: ErrorBody = {
  code: 'unreachable',
  message: 'The service cannot be reached. Check that it runs and that you are online.',
};

function read(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

function errorOf(body: unknown, status: number): ErrorBody {
  const { error } = Object(body) as { error?: ErrorBody };
  return error?.message ? error : { code: 'unknown', message: `The service responded with ${status}.` };
}
