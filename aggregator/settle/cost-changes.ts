import type { SettledUsage } from '../../domain/rules/usage-cells.ts';
import { costOfPeriod, type RowChanges, rowChanges } from '../../domain/rules/usage-cost.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { CustomerMeterUsage } from './customer-meter-usage.ts';
import type { SettlementInputs } from './settlement-inputs.ts';

/** What a settlement of one period has to change. Amounts in units of 10^-24. */
export interface CostChange extends RowChanges {
  customerMeter: TouchedCustomerMeter;
  periodStartMs: number;
  /** As it was settled. */
  before: bigint;
  cost: bigint;
}

export function costChanges(usage: CustomerMeterUsage): CostChange[] {
  return usage.facts.flatMap((facts: SettlementInputs) =>
    facts.rated.map((period): CostChange => {
      const rows = costOfPeriod(usage.cells(facts, period), usage.earlier(facts, period));
      return {
        ...rowChanges(rows, period.stored),
        customerMeter: facts.customerMeter,
        periodStartMs: period.fromMs,
        before: burnedBy(period.stored),
        cost: burnedBy(rows),
      };
    }),
  );
}

function burnedBy(rows: readonly SettledUsage[]): bigint {
  return rows.reduce((sum, { burned }) => sum + burned, 0n);
}
