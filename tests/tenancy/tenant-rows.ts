import type { Pool } from 'pg';

/** Every row of one environment, as text by table; what requests only stamp is left out. */
export type TenantRows = Record<string, string[]>;

/** Tables without an environment whose rows belong to one by another row. $1 is the environment. */
const BELONGS: Record<string, string> = {
  workspaces: 'id = (SELECT workspace_id FROM environments WHERE id = $1)',
  environments: 'id = $1',
  plan_entitlements: 'plan_id IN (SELECT id FROM plans WHERE environment = $1)',
  plan_prices: 'plan_id IN (SELECT id FROM plans WHERE environment = $1)',
  plan_credit_grants: 'plan_id IN (SELECT id FROM plans WHERE environment = $1)',
  addon_prices: 'addon_id IN (SELECT id FROM addons WHERE environment = $1)',
  addon_entitlements: 'addon_id IN (SELECT id FROM addons WHERE environment = $1)',
  subscription_terms: 'subscription_id IN (SELECT id FROM subscriptions WHERE environment = $1)',
  simulated_customers: 'simulation_id IN (SELECT id FROM simulations WHERE environment = $1)',
  subscription_addons: 'subscription_id IN (SELECT id FROM subscriptions WHERE environment = $1)',
};

/** Of the installation: they hold nothing of any tenant that a request could show. */
const OF_THE_INSTALLATION = [
  'installation',
  'migrations',
  'partition_leases',
  'log_ranges',
  'quarantine',
  'partition_alarms',
  'audit_runs',
  'log_trims',
  'job_leases',
  'warehouse_stamps',
  'kafka_logs',
  'key_stores',
  'load_members',
];

/** After the response to any request. */
const STAMPS = ['last_used_at', 'first_api_call_at'];

/** Throws for a table that is not listed here by the owner of its rows. */
export async function readTenantRows(pool: Pool, environment: string): Promise<TenantRows> {
  const found: TenantRows = {};
  for (const table of await tablesIn(pool)) {
    const condition = table.isTenants ? 'environment = $1' : BELONGS[table.name];
    if (condition === undefined && OF_THE_INSTALLATION.includes(table.name)) continue;
    if (condition === undefined) throw new Error(`Whose are the rows of ${table.name}? See tenant-rows.ts.`);
    const { rows } = await pool.query<{ row: string }>(
      `SELECT (to_jsonb(t) - $2::text[])::text AS row FROM ${table.name} t WHERE ${condition} ORDER BY 1`,
      [environment, STAMPS],
    );
    found[table.name] = rows.map(({ row }) => row);
  }
  return found;
}

/** All rows of all tables, bytes as hex. */
export async function readEveryRow(pool: Pool): Promise<string> {
  const texts: string[] = [];
  for (const { name } of await tablesIn(pool)) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`);
    texts.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return texts.join('\n');
}

/** Every id of an object of this environment: what no other tenant may be shown. */
export function idsIn(rows: TenantRows, environment: string): Set<string> {
  const workspaceId = environment.slice(0, environment.indexOf(':'));
  const ids = new Set<string>();
  for (const text of Object.values(rows).flat()) {
    for (const [id] of text.matchAll(/\b[a-z]{2,5}_[a-z2-7]{26}\b/g)) ids.add(id);
  }
  ids.delete(workspaceId);
  return ids;
}

async function tablesIn(pool: Pool): Promise<Array<{ name: string; isTenants: boolean }>> {
  const { rows } = await pool.query<{ name: string; isTenants: boolean }>(
    `SELECT t.table_name AS name, bool_or(c.column_name = 'environment') AS "isTenants"
       FROM information_schema.tables t JOIN information_schema.columns c USING (table_schema, table_name)
      WHERE t.table_schema = 'public' AND t.table_type = 'BASE TABLE' GROUP BY 1 ORDER BY 1`,
  );
  return rows;
}
