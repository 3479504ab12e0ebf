import type { Pool, PoolClient } from 'pg';
import type { Input, Output, Route } from '../schemas/route.ts';
import type { KeyedOperationId, Routes } from '../schemas/routes.ts';

export type Database = Pool | PoolClient;

/** What a handler knows of the request beside its input. */
export interface RequestContext {
  /** Of the key that asks: every statement names it. */
  environment: string;
  requestId: string;
  /** For an operation that changes something this is its transaction, committed when the handler returns. */
  db: Database;
}

export interface HandlerInput<R extends Route> extends Input<R> {
  /** The body as it was sent, for numbers that a double would round; '' where there is none. */
  bodyText: string;
}

/** Refuses by throwing Rejected; whatever it changed is then undone. */
export type Handler<R extends Route> = (
  context: RequestContext,
  input: HandlerInput<R>,
) => Output<R> | Promise<Output<R>>;

export type Handlers = { [Id in KeyedOperationId]: Handler<Routes[Id]> };
