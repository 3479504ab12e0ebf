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
  /** The scope that a secret key needs; `any_key`: none in particular; `public`: no key at all. */
  access: Scope | 'any_key' | 'public';
  summary: string;
  description?: string;
  params: TObject;
  query: TObject;
  headers?: TObject;
  body?: TSchema;
  /** Of success. */
  status: number;
  response: TSchema;
  /** Beside those that every operation of its kind can answer with. */
  errors: readonly ErrorCode[];
  /** Removed: answers with an error that names its successor. */
  deprecated?: true;
}

/** What a handler gets: checked, and with integers in the query as numbers. */
export interface Input<R extends Route> {
  params: Static<R['params']>;
  query: Static<R['query']>;
  body: R['body'] extends TSchema ? Static<R['body']> : undefined;
}

export type Output<R extends Route> = Static<R['response']>;

/** Keeps the exact types of a definition. */
export function defineRoute<const R extends Route>(route: R): R {
  return route;
}

/** Every version has its own base path; answers of all of them carry it in `X-API-Version`. */
export const API_VERSION = 'v1';
export const API_BASE = `/api/${API_VERSION}` as const;
