import type { Warehouse } from '../../infra/ports/warehouse.ts';

/**
 * Reads as servers before ClickHouse 26.3 do: parts whose times are all outside of the condition on
 * occurred_at are left out before FINAL, and with them perhaps the row of an event that stands.
 */
export function prunedBeforeFinal(warehouse: Warehouse): Warehouse {
  return {
    ...warehouse,
    query: (statement) => {
      const sql = `${statement.sql}\nSETTINGS defer_partition_pruning_after_final = 0`;
      return warehouse.query({ ...statement, sql });
    },
  };
}
