import type { CustomerPlans } from '../../domain/rules/plan-scenario.ts';
import type { RequestContext } from '../http/request-context.ts';
import { listSubscribedPlans, type SubscribedPlanRow } from '../store/customer-plans.ts';
import { listPricesOfPlans, pricesByPlan } from '../store/price-sets.ts';

type CustomerContext = Pick<RequestContext, 'db' | 'environment' | 'nowMs'>;

/** The plans that a customer has and will have. */
export async function readCustomerPlans(
  { db, environment, nowMs }: CustomerContext,
  customerId: string,
): Promise<CustomerPlans> {
  const rows = await listSubscribedPlans(db, environment, { customerId, now: new Date(nowMs) });
  const begun = rows.filter(({ hasBegun }) => hasBegun);
  const versions = begun.map(({ id: planId, version }) => ({ planId, version }));
  const prices = pricesByPlan(await listPricesOfPlans(db, versions));
  return {
    current: begun.map((row) => ({ ...row, prices: prices.get(row.id) ?? [] })),
    scheduledIds: new Set(rows.flatMap(scheduledIn)),
  };
}

function scheduledIn({ id, hasBegun, pendingPlanId }: SubscribedPlanRow): string[] {
  return [...(hasBegun ? [] : [id]), ...(pendingPlanId === null ? [] : [pendingPlanId])];
}
