import { planScenario } from '../../domain/rules/plan-scenario.ts';
import { PLANS_SHOWN_MAX } from '../../schemas/resources/pricing.ts';
import { shownPresentation } from '../changes/change-plan.ts';
import type { Handlers } from '../http/request-context.ts';
import { shownEntitlement } from '../input/read-entitlement-values.ts';
import { shownPrices } from '../input/read-prices.ts';
import { listOfferedEntitlements, type OfferedValueRow } from '../store/plan-entitlements.ts';
import { listPublishedPlans, type PlanRow } from '../store/plans.ts';
import { listPricesOfPlans, type StoredPrice } from '../store/price-sets.ts';
import { readCustomerPlans } from '../subscriptions/customer-plans.ts';

export const pricingHandlers: Pick<Handlers, 'pricing.retrieve'> = {
  'pricing.retrieve': async (context) => {
    const { db, environment } = context;
    const plans = await listPublishedPlans(db, environment, PLANS_SHOWN_MAX);
    const versions = plans.map(({ id: planId, version }) => ({ planId, version }));
    const prices = await listPricesOfPlans(db, versions);
    const values = await listOfferedEntitlements(db, environment, versions);
    const customer = await readCustomerPlans(context);
    return {
      plans: plans.map((plan) => {
        const own = prices.get(plan.id) ?? [];
        const scenario = customer && { scenario: planScenario({ ...plan, prices: own }, customer) };
        return { ...offered(plan, own, values), ...scenario };
      }),
    };
  },
};

function offered(plan: PlanRow, prices: readonly StoredPrice[], values: readonly OfferedValueRow[]) {
  const { id, key, name, description } = plan;
  const own = values.filter(({ planId }) => planId === id);
  return {
    id,
    key,
    name,
    ...(description === null ? {} : { description }),
    ...shownPresentation(plan),
    prices: shownPrices(prices),
    entitlements: own.map((value) => ({
      ...shownEntitlement(value),
      featureName: value.featureName,
      ...(value.unit === null ? {} : { unit: value.unit }),
    })),
  };
}
