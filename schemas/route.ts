import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import type { Scope } from './scopes.ts';

/**
 * One operation of the HTTP API. Router, validation and openapi.json are all made from it. Every schema is
 * JSON Schema 2020-12; objects are open, since unknown body fields are named in the answer and not refused.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root, with `{name}` for a path parameter. */
  path: string;
  /** Who answers it: the data plane knows its operations by itself, everything else is mounted from here. */
  plane: 'data' | 'control';
  access: Access;
  summary: string;
  description?: string;
  params: TObject;
  query: TObject;
  headers?: TObject;
  body?: TSchema;
  /** No body at all stands for `{}`. */
  bodyOptional?: true;
  /** A body that is taken; a name of an object in it is replaced where the example is used. */
  example?: Record<string, unknown>;
  /** The same body as text, by media type. The operation reads these by itself. */
  bodyTexts?: Readonly<Record<string, { schema: TSchema; example: string }>>;
  /** Of success; 204 has no body. */
  status: number;
  response: TSchema;
  /** Of the answer, where it is not JSON. */
  mediaTypes?: readonly string[];
  /** It changes nothing though it is no GET: it needs no transaction, but to be repeated under a key. */
  isRead?: true;
  /** Beside those that every operation of its kind can answer with. */
  errors: readonly ErrorCode[];
  /** The answer carries an ETag. Of one object: what changes it takes If-Match. */
  etag?: true;
  /**
   * Called by pages of any origin: CORS, bodies of `sendBeacon` (text/plain), and the publishable key in
   * `?key=`, since a beacon cannot set headers.
   */
  fromBrowser?: true;
  /** Removed: answers with an error that names its successor. */
  deprecated?: true;
}

/**
 * Who may ask. A scope: a secret key that holds it. `any_key`: every secret key. `publishable`: a secret key
 * or one from a browser. `signature`: whoever signed the body; the path names the environment. `public`:
 * everybody.
 */
export type Access = Scope | 'any_key' | 'publishable' | 'signature' | 'public';

/** What a handler gets: checked, and with integers in the query as numbers. */
export interface Input<R extends Route> {
  params: Static<R['params']>;
  query: Static<R['query']>;
  /** Of a signed call it is for the handler to read, once the signature holds: `bodyText`. */
  body: R['access'] extends 'signature'
    ? undefined
    : R['body'] extends TSchema
      ? Static<R['body']>
      : undefined;
}

export type Output<R extends Route> = Static<R['response']>;

/** Where no body is asked for, what is sent all the same goes through the same checks as `{}` would. */
export function readsBody({ body, method }: Route): boolean {
  return body !== undefined || method !== 'GET';
}

/** Keeps the exact types of a definition. */
export function defineRoute<const R extends Route>(route: R): R {
  return route;
}

/** Every version has its own base path; answers of all of them carry it in `X-API-Version`. */
export const API_VERSION = 'v1';
export const API_BASE = `/api/${API_VERSION}` as const;
