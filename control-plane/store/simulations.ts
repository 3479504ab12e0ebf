import type { Pool } from 'pg';
import type { Grant } from '../../domain/rules/resolve-entitlements.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import type { Database } from '../http/request-context.ts';
import type { StoredPrice } from './price-sets.ts';

/** What is simulated: prices of a plan, and what it gives. */
export interface SimulatedOffer {
  prices: StoredPrice[];
  /** Undefined where prices alone are simulated. */
  grants?: Grant[];
}

export interface SimulationRow {
  id: string;
  environment: string;
  status: 'pending' | 'running' | 'completed' | 'failed';
  planId: string | null;
  offer: SimulatedOffer;
  /** Null: all that have a subscription. */
  customerIds: string[] | null;
  startsAt: Date;
  endsAt: Date;
  customers: number;
  done: number;
  /** The last customer that is done. */
  position: string;
  failures: number;
  asOf: Date | null;
  totals: StoredTotal[] | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** Decimal texts. */
export interface StoredTotal {
  currency: string;
  customers: number;
  current: string;
  simulated: string;
  /** As {@link QUANTILES}. */
  differences: string[];
}

/** Of the differences of the customers. */
export const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95];

export interface SimulatedCustomerRow {
  customerId: string;
  totals: Array<{ currency: string; current: string; simulated: string }>;
  /** Limits that would have been passed; decimal texts and milliseconds. */
  beyond: Array<{
    featureKey: string;
    limit: string;
    soft: boolean;
    used: string;
    fromMs: number;
    toMs: number;
  }>;
}

const COLUMNS = `id, environment, status, plan_id AS "planId", offer, customer_ids AS "customerIds",
  starts_at AS "startsAt", ends_at AS "endsAt", customers, done, position, failures, as_of AS "asOf", totals,
  created_at AS "createdAt", finished_at AS "finishedAt"`;

export type NewSimulationRow = Pick<
  SimulationRow,
  'id' | 'planId' | 'offer' | 'customerIds' | 'startsAt' | 'endsAt' | 'customers' | 'createdAt'
>;

export async function insertSimulation(
  db: Database,
  environment: string,
  row: NewSimulationRow,
): Promise<SimulationRow | undefined> {
  const { rows } = await db.query<SimulationRow>(
    `INSERT INTO simulations (environment, id, status, plan_id, offer, customer_ids, starts_at, ends_at,
                              customers, created_at, worked_at)
     VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $9) RETURNING ${COLUMNS}`,
    [
      ...[environment, row.id, row.planId, JSON.stringify(row.offer), row.customerIds, row.startsAt],
      ...[row.endsAt, row.customers, row.createdAt],
    ],
  );
  await db.query(`SELECT pg_notify($1, '')`, [CHANNELS.simulationRequested]);
  return rows[0];
}

export async function findSimulation(
  db: Database,
  environment: string,
  id: string,
): Promise<SimulationRow | undefined> {
  const { rows } = await db.query<SimulationRow>(
    `SELECT ${COLUMNS} FROM simulations WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** Of one environment. No other transaction adds one until this one ends. */
export async function countSimulationsLocked(
  db: Database,
  environment: string,
): Promise<{ kept: number; open: number }> {
  await db.query('SELECT FROM environments WHERE id = $1 FOR NO KEY UPDATE', [environment]);
  const { rows } = await db.query<{ kept: number; open: number }>(
    `SELECT count(*) AS kept, count(*) FILTER (WHERE status IN ('pending', 'running')) AS open
       FROM simulations WHERE environment = $1`,
    [environment],
  );
  return rows[0] ?? { kept: 0, open: 0 };
}

/** Customers that have or had a subscription; at most `limit` are counted. */
export async function countSubscribers(db: Database, environment: string, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*) AS count
       FROM (SELECT DISTINCT customer_id FROM subscriptions WHERE environment = $1 LIMIT $2) AS subscribers`,
    [environment, limit],
  );
  return rows[0]?.count ?? 0;
}

/** The unfinished one, of any environment, that was worked on longest ago. */
export async function nextSimulation(db: Database): Promise<SimulationRow | undefined> {
  const { rows } = await db.query<SimulationRow>(
    `SELECT ${COLUMNS} FROM simulations WHERE status IN ('pending', 'running')
      ORDER BY worked_at, id LIMIT 1`,
  );
  return rows[0];
}

/** The next customers of a simulation. */
export async function nextSimulated(
  db: Database,
  { environment, position, customerIds }: SimulationRow,
  limit: number,
): Promise<string[]> {
  const isMember =
    customerIds === null
      ? '$3::text[] IS NULL AND EXISTS (SELECT FROM subscriptions WHERE customer_id = customers.id)'
      : 'id = ANY ($3::text[])';
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM customers WHERE environment = $1 AND id > $2 AND ${isMember} ORDER BY id LIMIT $4`,
    [environment, position, customerIds, limit],
  );
  return rows.map(({ id }) => id);
}

/** Stores the results of the next customers, and that they are done. */
export async function advanceSimulation(
  db: Database,
  { id }: SimulationRow,
  results: readonly SimulatedCustomerRow[],
  { position, at, asOf }: { position: string; at: Date; asOf: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO simulated_customers (simulation_id, customer_id, totals, difference, beyond)
     SELECT $1, "customerId", totals, coalesce(
              (SELECT max((one ->> 'simulated')::numeric - (one ->> 'current')::numeric)
                 FROM jsonb_array_elements(totals) AS one), 0), beyond
       FROM jsonb_to_recordset($2) AS n ("customerId" text, totals jsonb, beyond jsonb)`,
    [id, JSON.stringify(results)],
  );
  await db.query(
    `UPDATE simulations SET status = 'running', done = done + $2, customers = greatest(customers, done + $2),
                            position = $3, worked_at = $4, failures = 0, as_of = coalesce(as_of, $5)
      WHERE id = $1`,
    [id, results.length, position, at, asOf],
  );
}

/** Sums up all its customers. */
export async function completeSimulation(db: Database, { id }: SimulationRow, at: Date): Promise<void> {
  await db.query(
    `UPDATE simulations SET status = 'completed', customers = done, finished_at = $2,
                            as_of = coalesce(as_of, $2), totals = (
       SELECT coalesce(jsonb_agg(to_jsonb(summed) ORDER BY currency), '[]') FROM (
         SELECT currency, count(*) AS customers, sum(current)::text AS current,
                sum(simulated)::text AS simulated,
                (percentile_disc($3::float8[])
                   WITHIN GROUP (ORDER BY simulated - current))::text[] AS differences
           FROM simulated_customers,
                jsonb_to_recordset(totals) AS t (currency text, current numeric, simulated numeric)
          WHERE simulation_id = $1 GROUP BY currency) AS summed)
      WHERE id = $1`,
    [id, at, QUANTILES],
  );
}

/** Others are tried first; after `failuresMax` in a row it is given up. */
export async function failSimulation(
  db: Database,
  { id }: SimulationRow,
  { at, failuresMax }: { at: Date; failuresMax: number },
): Promise<void> {
  await db.query(
    `UPDATE simulations SET worked_at = $2, failures = failures + 1,
            status = CASE WHEN failures + 1 < $3 THEN status ELSE 'failed' END,
            finished_at = CASE WHEN failures + 1 < $3 THEN NULL ELSE $2::timestamptz END
      WHERE id = $1`,
    [id, at, failuresMax],
  );
}

/** Largest difference first. The simulation was read under its environment. */
export async function listSimulated(
  db: Database,
  simulationId: string,
  { page, pageSize, isBeyond }: PageQuery & { isBeyond: boolean },
): Promise<{ rows: SimulatedCustomerRow[]; total: number }> {
  const where = `simulation_id = $1 AND (NOT $2 OR beyond <> '[]')`;
  const counted = await db.query<{ total: number }>(
    `SELECT count(*) AS total FROM simulated_customers WHERE ${where}`,
    [simulationId, isBeyond],
  );
  const { rows } = await db.query<SimulatedCustomerRow>(
    `SELECT customer_id AS "customerId", totals, beyond FROM simulated_customers WHERE ${where}
      ORDER BY difference DESC, customer_id OFFSET $3 LIMIT $4`,
    [simulationId, isBeyond, (page - 1) * pageSize, pageSize],
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

/** Deletes at most `rowsMax` rows of simulations older than 7 days. Returns it while more may be left. */
export async function forgetSimulations(pool: Pool, rowsMax: number): Promise<number> {
  const results = await pool.query(
    `DELETE FROM simulated_customers WHERE ctid IN (
       SELECT c.ctid FROM simulations s JOIN simulated_customers c ON c.simulation_id = s.id
        WHERE s.created_at < now() - interval '7 days' LIMIT $1)`,
    [rowsMax],
  );
  if (results.rowCount) return rowsMax;
  const { rowCount } = await pool.query(
    `DELETE FROM simulations WHERE ctid IN (
       SELECT ctid FROM simulations WHERE created_at < now() - interval '7 days' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
