import type { IncomingHttpHeaders } from 'node:http';
import type { Pool, PoolClient } from 'pg';
import type { Input, Output, Route } from '../../schemas/route.ts';
import type { KeyedOperationId, Routes } from '../../schemas/routes.ts';
import type { CommittedResponse } from './committed-response.ts';
import type { ChangeRequest } from './idempotent.ts';
import type { PrintedJson } from './printed-json.ts';
import type { RawResponse } from './raw-response.ts';

export type Database = Pool | PoolClient;

/** The caller of a request. */
export interface Caller {
  /** Every statement uses it. */
  environment: string;
  /** The id of the key, `processor`, or of a customer token the id of the customer. */
  actor: string;
  /** Of the key; of a customer token those of the key that created it. */
  scopes: readonly string[];
  /** The key's, or `customer` with a customer token; absent for a signed call. */
  kind?: 'secret' | 'publishable' | 'customer';
  /** With a customer token: the only customer that the caller may read. */
  customerId?: string;
}

/** The data of the request in addition to the input of its handler. */
export interface RequestContext extends Caller {
  operationId: string;
  requestId: string;
  /** When the request arrived: the time of everything that it creates. */
  nowMs: number;
  headers: IncomingHttpHeaders;
  /** Of the forms of the response the one that the client prefers; JSON unless it says otherwise. */
  mediaType: string;
  /** For an operation that changes something this is its transaction, committed when the handler returns. */
  db: Database;
  /** Of an operation that commits itself: what its Idempotency-Key is kept for. */
  change?: ChangeRequest;
  /** Calls the listener when the client closes the connection without the response. */
  onClientClosed: (listener: () => void) => void;
}

export interface HandlerInput<R extends Route> extends Input<R> {
  /** The body as it was sent, for numbers that a double would round; '' where there is none. */
  bodyText: string;
}

/** Rejects by throwing Rejected, which rolls back its changes. */
export type Handler<R extends Route> = (
  context: RequestContext,
  input: HandlerInput<R>,
) => Responded<R> | Promise<Responded<R>>;

type Responded<R extends Route> = Output<R> | PrintedJson | RawResponse | CommittedResponse;

export type Handlers = { [Id in KeyedOperationId]: Handler<Routes[Id]> };
