import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import type { Scope } from './scopes.ts';

/**
 * One operation of the HTTP API. The router, the validation and openapi.json are made from it. Every schema
 * is JSON Schema 2020-12; objects are open: unknown body fields are listed in a header and not rejected.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root, with `{name}` for a path parameter. */
  path: string;
  /** The plane that serves it. The data plane has its own router, the control plane mounts these. */
  plane: 'data' | 'control';
  access: Access;
  summary: string;
  description?: string;
  params: TObject;
  /** A parameter of type object holds values by name: `filter[region]=eu`. */
  query: TObject;
  headers?: TObject;
  body?: TSchema;
  /** A missing body is read as `{}`. */
  bodyOptional?: true;
  /** Default: that of all operations. */
  bodyBytesMax?: number;
  /** A valid body. Users of the example replace the names of objects in it. */
  example?: Record<string, unknown>;
  /** The same body as text, by media type. The operation parses these itself. */
  bodyTexts?: Readonly<Record<string, { schema: TSchema; example: string }>>;
  /** Of success; 204 has no body. */
  status: number;
  response: TSchema;
  /** Of the response, if it is not JSON. */
  mediaTypes?: readonly string[];
  /** Further forms of the response, by media type: sent where the client prefers one to JSON. */
  furtherMediaTypes?: Readonly<Record<string, TSchema>>;
  /** Changes nothing although it is not a GET: it needs a transaction only under an Idempotency-Key. */
  isRead?: true;
  /** With `isRead`: an Idempotency-Key has no effect, and nothing is stored under it. */
  ignoresIdempotencyKey?: true;
  /** Another outcome that is no error, by its own status. */
  otherwise?: { status: number; description: string; response: TSchema };
  /**
   * The handler commits what it changes, and the kept response of an Idempotency-Key with it: its changes are
   * made together with those of other requests.
   */
  commitsItself?: true;
  /** In addition to those that every operation of its kind can return. */
  errors: readonly ErrorCode[];
  /** The response has an ETag. If it is of one object, operations that change it accept If-Match. */
  etag?: true;
  /** How long a browser may show the response again without a request. Others are never stored. */
  cachedSeconds?: number;
  /**
   * Called by pages of any origin: CORS, bodies of `sendBeacon` (text/plain), and the publishable key in
   * `?key=`, since a beacon cannot set headers.
   */
  fromBrowser?: true;
  /**
   * A customer token reads it too, from pages of any origin: where the path has a `{customerId}`, only that
   * customer's.
   */
  customerToken?: true;
  /** The response contains a credential, which has the scopes of the caller or fewer. */
  returnsCredential?: true;
  /** Removed: returns an error that names its successor. */
  deprecated?: true;
}

/**
 * The credential that an operation requires. A scope: a secret key with that scope. `any_key`: a secret key.
 * `publishable`: a secret or a publishable key. `signature`: a signed body; the path names the environment.
 * `public`: none.
 */
export type Access = Scope | 'any_key' | 'publishable' | 'signature' | 'public';

/** The validated input of a handler; integers in the query are numbers. */
export interface Input<R extends Route> {
  params: Static<R['params']>;
  query: Static<R['query']>;
  /** The handler of a signed request reads `bodyText` itself, after it has verified the signature. */
  body: R['access'] extends 'signature'
    ? undefined
    : R['body'] extends TSchema
      ? Static<R['body']>
      : undefined;
}

export type Output<R extends Route> = Static<R['response']>;

/** An operation without a body checks a body that is sent all the same against an object without fields. */
export function readsBody({ body, method }: Route): boolean {
  return body !== undefined || method !== 'GET';
}

/** Browsers may call it from pages of any origin (CORS). */
export function isOpenToPages({ fromBrowser, customerToken }: Route): boolean {
  return fromBrowser === true || customerToken === true;
}

/** Keeps the exact types of a definition. */
export function defineRoute<const R extends Route>(route: R): R {
  return route;
}

/** Every version has its own base path; every response has the version in `X-API-Version`. */
export const API_VERSION = 'v1';
export const API_BASE = `/api/${API_VERSION}` as const;
