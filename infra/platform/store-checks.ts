import type { Pool } from 'pg';
import type { RoleCheck } from '../../schemas/readiness-names.ts';
import type { EventLogReader } from '../ports/event-log.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import type { Check } from './health-checks.ts';

const QUESTION_TIMEOUT_MS = 2_000;

/** One for each of these that a role has: a store that responds to a query is healthy. */
export function storesChecks(stores: StoresOfRole): Partial<Record<RoleCheck, Check>> {
  const { pool, warehouse, logReader } = stores;
  return {
    ...(pool ? { postgres: responded(() => pool.query('SELECT 1')) } : {}),
    ...(warehouse ? { warehouse: responded(() => ping(warehouse)) } : {}),
    ...(logReader ? { log: responded(() => logReader.durableEnds()) } : {}),
  };
}

export interface StoresOfRole {
  pool?: Pool;
  warehouse?: Warehouse;
  logReader?: EventLogReader;
}

function responded(question: () => Promise<unknown>): Check {
  return async () => {
    await question();
    return undefined;
  };
}

function ping(warehouse: Warehouse): Promise<unknown[]> {
  return warehouse.query({ sql: 'SELECT 1', connection: 'counters', timeoutMs: QUESTION_TIMEOUT_MS });
}
