import type { CustomerPlans } from '../../domain/rules/plan-scenario.ts';
import type { RequestContext } from '../http/request-context.ts';
import { listSubscribedPlans, type SubscribedPlanRow } from '../store/customer-plans.ts';
import { listPricesOfPlans } from '../store/price-sets.ts';

type CustomerContext = Pick<RequestContext, 'db' | 'environment' | 'customerId' | 'nowMs'>;

/** The plans that the customer of a token has and will have; undefined with any key. */
export async function readCustomerPlans(context: CustomerContext): Promise<CustomerPlans | undefined> {
  const { db, environment, customerId, nowMs } = context;
  if (customerId === undefined) return undefined;
  const rows = await listSubscribedPlans(db, environment, { customerId, now: new Date(nowMs) });
  const begun = rows.filter(({ hasBegun }) => hasBegun);
  const versions = begun.map(({ id: planId, version }) => ({ planId, version }));
  const prices = await listPricesOfPlans(db, versions);
  return {
    current: begun.map((row) => ({ ...row, prices: prices.get(row.id) ?? [] })),
    scheduledIds: new Set(rows.flatMap(scheduledIn)),
  };
}

function scheduledIn({ id, hasBegun, pendingPlanId }: SubscribedPlanRow): string[] {
  return [...(hasBegun ? [] : [id]), ...(pendingPlanId === null ? [] : [pendingPlanId])];
}
