import type { Pool } from 'pg';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import type { CustomerGrantsReads } from '../entitlements/cache/customer-grants-reads.ts';
import type { EntitlementCache } from '../entitlements/cache/entitlement-cache.ts';
import type { CachedChecks } from '../entitlements/check/cached-checks.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { Loaders } from './loaders.ts';

/** What the fields read from: what the operations of the REST API read from. */
export interface GraphqlDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  counters: EntitlementCache['counters'];
  customerGrantsReads: CustomerGrantsReads;
  checks: CachedChecks;
  /** Of the operations that a field has the whole response of. */
  handlers: Omit<Handlers, 'graphql.query'>;
  /** As `/readyz` shows it to this caller. */
  readiness: (authorization: string | undefined) => Promise<Readiness>;
}

/** Of one request. */
export interface GraphqlContext extends RequestContext {
  deps: GraphqlDeps;
  loaders: Loaders;
  /** Runs a read of a store when the environment has a free slot. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T>;
}
