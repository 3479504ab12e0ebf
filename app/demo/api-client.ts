import { setTimeout as delay } from 'node:timers/promises';
import type { TSchema } from 'typebox';
import { request } from 'undici';
import { Defect, Transient } from '../../schemas/failures.ts';
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

/** Requests an operation of the public API. Throws Defect for a rejection, Transient without a response. */
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

const ATTEMPTS_MAX = 60;
const RETRY_AFTER_MS = 500;
const ATTEMPT_TIMEOUT_MS = 15_000;
/** Codes of errors: what is not available for a while, and a request with the same key that still runs. */
const RETRIED = new Set(['unavailable', 'overloaded', 'rate_limited', 'idempotency_key_in_use']);

/** Repeats for half a minute and more what may succeed later: each change is sent so that it is done once. */
export function createApiCall(access: ApiAccess): Call {
  return async (operationId, { params = {}, body, key } = {}) => {
    const route: Route = ROUTES[operationId];
    const values: Record<string, string> = params;
    const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(values[name] ?? ''),
    );
    const sent = { method: route.method, path, key, body: bodyText(route.body, body) };
    for (let attempt = 1; ; attempt += 1) {
      const { text, mayRetry, why } = await send(access, sent);
      if (text !== undefined) return JSON.parse(text || '{}');
      access.signal.throwIfAborted();
      if (!mayRetry) throw new Defect(`${operationId}: ${why}`);
      if (attempt === ATTEMPTS_MAX) throw new Transient('api_unavailable', `${operationId}: ${why}`);
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

interface Outcome {
  /** The body of a success. */
  text?: string;
  mayRetry?: boolean;
  why?: string;
}

async function send(access: ApiAccess, { method, path, key, body }: SentRequest): Promise<Outcome> {
  const { url, secretKey, signal } = access;
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
    return outcomeOf(response.statusCode, await response.body.text());
  } catch (error) {
    return { mayRetry: true, why: String(error) };
  }
}

function outcomeOf(status: number, text: string): Outcome {
  if (status >= 200 && status < 300) return { text };
  const code = /"code":"(\w+)"/.exec(text)?.[1] ?? '';
  return { mayRetry: RETRIED.has(code), why: `${status} ${text}` };
}
