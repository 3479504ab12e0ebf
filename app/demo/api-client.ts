import { setTimeout as delay } from 'node:timers/promises';
import type { TSchema } from 'typebox';
import { request } from 'undici';
import type { ExactNumber } from '../../schemas/primitives/exact-json.ts';
import type { Input, Output, Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES, type Routes } from '../../schemas/routes.ts';

/** As JSON has it: numbers that are exact inside are numbers here. */
export type Plain<T> = T extends ExactNumber
  ? number
  : T extends object
    ? { [Name in keyof T]: Plain<T[Name]> }
    : T;

export type BodyOf<Id extends OperationId> = Plain<Input<Routes[Id]>['body']>;

interface Sent<Id extends OperationId> {
  params?: Record<keyof Routes[Id]['params']['properties'], string>;
  body?: BodyOf<Id>;
  /** The Idempotency-Key: the same request again has the first one's response. */
  key?: string;
}

/** Requests operations of the public API. Throws {@link RequestFailed} for a response that is no success. */
export type Call = <Id extends OperationId>(
  operationId: Id,
  sent?: Sent<Id>,
) => Promise<Plain<Output<Routes[Id]>>>;

export interface ApiAccess {
  /** Where the public port is now. */
  url(): string;
  secretKey: string;
  /** Ends the request in flight, and the wait before the next attempt. */
  signal: AbortSignal;
}

export class RequestFailed extends Error {
  override name = 'RequestFailed';
}

const ATTEMPTS_MAX = 60;
const RETRY_AFTER_MS = 500;
const ATTEMPT_TIMEOUT_MS = 15_000;
/** Rate limits, a request in progress with the same key, and what is unavailable for a while. */
const RETRIED = new Set([429, 502, 503, 504]);

/** Repeats what may succeed later for half a minute and more. Every change is sent so that it is done once. */
export function createApiCall(access: ApiAccess): Call {
  return async (operationId, { params = {}, body, key } = {}) => {
    const route: Route = ROUTES[operationId];
    const values: Record<string, string> = params;
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(values[name] ?? ''),
    );
    const sent = { method: route.method, path, key, body: bodyText(route.body, body) };
    for (let attempt = 1; ; attempt += 1) {
      const { status, text, why } = await send(access, sent);
      if (status >= 200 && status < 300) return text === '' ? {} : JSON.parse(text);
      access.signal.throwIfAborted();
      const mayRetry = status === 0 || RETRIED.has(status);
      if (!mayRetry || attempt === ATTEMPTS_MAX) throw new RequestFailed(`${operationId}: ${why}`);
      await delay(RETRY_AFTER_MS, undefined, { signal: access.signal });
    }
  };
}

function bodyText(schema: TSchema | undefined, body: unknown): string | undefined {
  return schema === undefined ? undefined : JSON.stringify(body ?? {});
}

interface SentRequest {
  method: Route['method'];
  path: string;
  key: string | undefined;
  body: string | undefined;
}

/** Status 0 stands for no response. */
async function send({ url, secretKey, signal }: ApiAccess, { method, path, key, body }: SentRequest) {
  try {
    const response = await request(`${url()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]),
    });
    const text = await response.body.text();
    return { status: response.statusCode, text, why: `${response.statusCode} ${text}` };
  } catch (error) {
    return { status: 0, text: '', why: String(error) };
  }
}
