import type { UsageBudget } from '../../domain/rules/usage-thresholds.ts';
import type { Queryable } from './queryable.ts';

/** A customer's meter. */
export interface CustomerMeterPlace {
  environment: string;
  customerId: string;
  meterKey: string;
}

export type BudgetRow = CustomerMeterPlace & UsageBudget;

export async function readBudgets(
  db: Queryable,
  customerMeters: readonly CustomerMeterPlace[],
): Promise<BudgetRow[]> {
  const { rows } = await db.query<BudgetRow>(
    `SELECT b.environment, b.customer_id AS "customerId", b.meter_key AS "meterKey", b.soft, b.hard
       FROM unnest($1::text[], $2::text[], $3::text[]) AS requested (environment, customer_id, meter_key)
       JOIN budgets b USING (environment, customer_id, meter_key)`,
    [
      customerMeters.map(({ environment }) => environment),
      customerMeters.map(({ customerId }) => customerId),
      customerMeters.map(({ meterKey }) => meterKey),
    ],
  );
  return rows;
}
