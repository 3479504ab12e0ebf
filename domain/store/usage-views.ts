import type { Pool, PoolClient } from 'pg';
import type { Warehouse } from '../../infra/ports/warehouse.ts';

/**
 * Which changes of usage count for a reader: all up to the newest that was known when the view was read, but
 * the hidden ones. A view may be old; what it counts is always whole, since a change becomes visible with one
 * row of Postgres, after all its rows are stored.
 */
export interface UsageView {
  /** Numbers of changes that do not count, ascending. */
  hidden: readonly number[];
  /** Of the newest change; 0 where there was none: then no row of any change is read. */
  upTo: number;
  /** Some change takes events away, visible or not. */
  hasVoids: boolean;
}

/** The stored usage as one read sees it, in all its statements. */
export interface ViewedUsage {
  warehouse: Pick<Warehouse, 'query'>;
  view: UsageView;
}

/** Of an environment whose usage was never changed. */
export const NO_CHANGES: UsageView = { hidden: [], upTo: 0, hasVoids: false };

/** By environment; of those without changes {@link NO_CHANGES}. One statement, and so of one time. */
export async function readUsageViews(
  db: Pool | PoolClient,
  environments: readonly string[],
): Promise<Map<string, UsageView>> {
  const { rows } = await db.query<{ environment: string; hidden: string[]; upTo: number; hasVoids: boolean }>(
    `SELECT requested.id AS environment,
            ARRAY(SELECT number::text FROM usage_changes
                   WHERE environment = requested.id AND state <> 'visible' AND rows_removed_at IS NULL
                   ORDER BY number) AS hidden,
            newest.number AS "upTo",
            EXISTS (SELECT FROM usage_changes WHERE environment = requested.id AND has_voids) AS "hasVoids"
       FROM unnest($1::text[]) AS requested (id)
      CROSS JOIN LATERAL (SELECT number FROM usage_changes WHERE environment = requested.id
                           ORDER BY number DESC LIMIT 1) AS newest`,
    [[...new Set(environments)]],
  );
  const found = new Map(
    rows.map(({ environment, hidden, ...view }) => [environment, { ...view, hidden: hidden.map(Number) }]),
  );
  return new Map(environments.map((environment) => [environment, found.get(environment) ?? NO_CHANGES]));
}

/** Changes whose records are all on the log and not visible yet. */
export async function readClosingChanges(db: Pool | PoolClient, environment: string): Promise<number[]> {
  const { rows } = await db.query<{ number: number }>(
    `SELECT number FROM usage_changes WHERE environment = $1 AND state = 'closing'`,
    [environment],
  );
  return rows.map(({ number }) => number);
}
