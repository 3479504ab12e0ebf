import { Pool } from 'pg';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import type { Database, RequestContext } from '../../http/request-context.ts';
import { createTenantSemaphore, type SemaphoreLimits } from '../../http/tenant-semaphore.ts';
import { limitStatements, readOneTime } from '../../store/grants-transaction.ts';

/**
 * Runs reads of customer grants, each in one snapshot. Throws Rejected `overloaded` when too many are
 * running, and Transient when one takes longer than its limit.
 */
export type CustomerGrantsReads = <T>(
  context: Pick<RequestContext, 'db' | 'environment'>,
  read: (db: Database) => Promise<T>,
) => Promise<T>;

/**
 * The pool has 20 connections. Environments with heavy customers leave 8 of them to everything else, and each
 * leaves 8 of the other 12 to the other environments. A usual check takes a millisecond or two.
 */
const GATE: SemaphoreLimits = {
  underWayMax: 12,
  shareMax: 4,
  waitingMax: 1_000,
  waitingShareMax: 250,
  waitMs: 2_000,
};
const STATEMENT_MS = 3_000;

export function createCustomerGrantsReads(limits: SemaphoreLimits = GATE): CustomerGrantsReads {
  const gate = createTenantSemaphore(limits, 'reads of entitlements');

  return ({ db, environment }, read) => {
    if (db instanceof Pool) {
      return gate.run(environment, () =>
        inTransaction(db, async (client) => {
          await readOneTime(client, STATEMENT_MS);
          return read(client);
        }),
      );
    }
    // A read inside a transaction does not wait: it would keep one of the pool's connections.
    return gate.runAtOnce(environment, async () => {
      await limitStatements(db, STATEMENT_MS);
      return read(db);
    });
  };
}
