import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';

type Queries = Pick<Warehouse, 'query'>;

/** A warehouse whose statements together take at most this long, from now on. A late one is cut off. */
export function boundedWarehouse(warehouse: Queries, totalMs: number): Queries {
  const endMs = performance.now() + totalMs;
  return {
    query(statement) {
      const leftMs = Math.floor(endMs - performance.now());
      if (leftMs < 1) throw new Transient('warehouse_unavailable', 'Reading usage has taken too long.');
      return warehouse.query({ ...statement, timeoutMs: Math.min(statement.timeoutMs, leftMs) });
    },
  };
}
