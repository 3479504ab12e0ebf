import type { Pool } from 'pg';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { CustomerGrantsReads } from '../entitlements/cache/customer-grants-reads.ts';
import type { EntitlementCache } from '../entitlements/cache/entitlement-cache.ts';
import type { CachedChecks } from '../entitlements/check/cached-checks.ts';
import type { ShownReadiness } from '../health/shown-readiness.ts';
import type { ChargeRequest } from '../http/rate-limit.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import type { Freshness } from '../usage/freshness.ts';
import type { Pace } from './paced-entries.ts';

export type RestHandlers = Omit<Handlers, 'graphql.query'>;

/** What the fields read from: what the operations of the REST API read from. */
export interface GraphqlDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  entitlementCache: Pick<EntitlementCache, 'counters'>;
  customerGrantsReads: CustomerGrantsReads;
  checks: CachedChecks;
  /** Of the operations that a field has the whole response of. */
  handlers: RestHandlers;
  /** As `/readyz` shows it to this caller. */
  readiness: ShownReadiness;
  chargeRequest: ChargeRequest;
}

/** Of one request. */
export interface ReadContext extends RequestContext {
  deps: GraphqlDeps;
  pace: Pace;
  /** Throws Rejected, and stops the execution, when too much is read. */
  spendRead: (rows: Iterable<object>) => void;
  /** Runs a read of a store when the environment has a free slot, unless the request has ended by then. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T>;
}
