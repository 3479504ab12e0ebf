import { OPERATIONS, type Operations } from '../generated/operations.ts';
import { backoffMs, RETRY_POLICY, retryAfterMs, spread } from '../meter/retry-policy.ts';
import { type HttpResponse, request } from '../meter/transport.ts';
import { ulid } from '../meter/ulid.ts';
import { ApiError, errorOfResponse } from './api-error.ts';
import { requestOf } from './request-of.ts';
import { checkedAddress, type ServerAddress } from './server-address.ts';

export interface ClientOptions {
  /** Of the server, without `/api/v1`. */
  url: string;
  /** A secret API key. */
  apiKey: string;
  /** Of one request with its response. Default 30,000. */
  timeoutMs?: number;
  /**
   * How often what is safe to repeat is sent in all: reads, PUT, and what has an idempotency key. Default 3.
   */
  attemptsMax?: number;
}

export interface CallOptions {
  /** Of a POST: the same key and body within 24 hours is done once. By default a new one for each call. */
  idempotencyKey?: string;
  /** Change the object only if this is still its `ETag`. */
  ifMatch?: string;
  signal?: AbortSignal;
  /** Of what is returned: its status and headers, `etag` among them. */
  onResponse?: (response: Pick<HttpResponse, 'status' | 'header'>) => void;
}

type Id = keyof Operations;
/** An operation without required input may be called without any. */
type Method<I extends Id> =
  Record<string, never> extends Operations[I]['input']
    ? (input?: Operations[I]['input'], options?: CallOptions) => Promise<Operations[I]['output']>
    : (input: Operations[I]['input'], options?: CallOptions) => Promise<Operations[I]['output']>;
type GroupOf<I> = I extends `${infer Group}.${string}` ? Group : never;
type NameIn<Group extends string, I> = I extends `${Group}.${infer Name}` ? Name : never;

/** Each operation by its id: `client.plans.list()`, `client.createPlan({ body })`. */
export type Client = {
  readonly [Group in GroupOf<Id>]: {
    readonly [Name in NameIn<Group, Id>]: `${Group}.${Name}` extends Id ? Method<`${Group}.${Name}`> : never;
  };
} & { readonly [I in Exclude<Id, `${string}.${string}`>]: Method<I> };

/**
 * Every operation of the API. They reject with an `ApiError`. Throws a TypeError for a URL or a key that
 * cannot be one.
 */
export function createClient(given: ClientOptions): Client {
  const options = { ...given, ...checkedAddress(given) };
  const client: Record<string, unknown> = {};
  connections.set(client, options);
  for (const id of Object.keys(OPERATIONS) as Id[]) {
    const call = (input: Record<string, unknown> = {}, how: CallOptions = {}) =>
      callOperation(options, id, { input, how });
    const [group, name] = id.split('.') as [string, string | undefined];
    if (name === undefined) client[group] = call;
    else client[group] = { ...(client[group] as object | undefined), [name]: call };
  }
  return client as unknown as Client;
}

const connections = new WeakMap<object, ClientOptions>();

/** What it was made of; undefined for a client of another make. */
export function connectionOf(client: object): ServerAddress | undefined {
  return connections.get(client);
}

interface Call {
  input: Record<string, unknown>;
  how: CallOptions;
}

async function callOperation(options: ClientOptions, id: Id, { input, how }: Call): Promise<unknown> {
  const { url, apiKey, attemptsMax = 3 } = options;
  const [method, template, takesKey] = OPERATIONS[id];
  const { path, body } = requestOf(template, input);
  const idempotencyKey = how.idempotencyKey ?? ulid(Date.now());
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'metergate-node/0.1.0',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(takesKey ? { 'idempotency-key': idempotencyKey } : {}),
    ...(how.ifMatch === undefined ? {} : { 'if-match': how.ifMatch }),
  };
  const isSafe = method === 'GET' || (method === 'PUT' && how.ifMatch === undefined) || takesKey;
  const send = () =>
    request({
      url: `${url}/api/v1${path}`,
      method,
      headers,
      body,
      timeoutMs: options.timeoutMs ?? 30_000,
      signal: how.signal,
    });
  const response = await attempted(send, isSafe ? attemptsMax : 1, how.signal);
  how.onResponse?.(response);
  return bodyOf(response);
}

/** Repeats what has no response, or one of a server that is busy or broken. */
async function attempted(
  send: () => Promise<HttpResponse>,
  attemptsMax: number,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    const response = await send().catch((error: unknown) => error as Error);
    const isLast = attempt >= attemptsMax || signal?.aborted;
    if (!(response instanceof Error)) {
      const isTransient = response.status === 429 || response.status >= 500;
      if (!isTransient || isLast) return response;
    } else if (isLast) throw noResponse(response);
    const header = response instanceof Error ? null : response.header('retry-after');
    const asked = spread(Math.min(retryAfterMs(RETRY_POLICY, header, Date.now()), RETRY_WAIT_MS_MAX));
    await wait(Math.max(asked, backoffMs(RETRY_POLICY, attempt)), signal);
  }
}

/** The caller waits. */
const RETRY_WAIT_MS_MAX = 5_000;

/** Until the time is over, or the caller does not want it any more. */
function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}

function noResponse(error: Error): ApiError {
  const { cause } = error;
  const why = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
  return new ApiError(`There was no response: ${why}`, { code: 'no_response', cause: error });
}

function bodyOf({ status, text }: HttpResponse): unknown {
  if (status < 200 || status >= 300) throw errorOfResponse(status, text);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw errorOfResponse(status, text);
  }
}
