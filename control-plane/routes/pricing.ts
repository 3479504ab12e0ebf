import { planScenario } from '../../domain/rules/plan-scenario.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { PLANS_SHOWN_MAX, type Pricing } from '../../schemas/resources/pricing.ts';
import { shownPresentation } from '../changes/change-plan.ts';
import { type Cached, createLruCache } from '../entitlements/cache/lru-cache.ts';
import { PrintedJson } from '../http/printed-json.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { shownEntitlement } from '../input/read-entitlement-values.ts';
import { shownPrices } from '../input/read-prices.ts';
import { readCatalogueVersion } from '../store/entitlement-versions.ts';
import { listOfferedEntitlements, type OfferedValueRow } from '../store/plan-entitlements.ts';
import { listPublishedPlans, type PlanRow } from '../store/plans.ts';
import { listPricesOfPlans, pricesByPlan, type StoredPrice } from '../store/price-sets.ts';
import { readCustomerPlans } from '../subscriptions/customer-plans.ts';

/** Of a pricing page of 100 plans that each have 500 entitlements. */
const CACHE_BOUNDS = { countMax: 1_000, bytesMax: 64 * 1024 * 1024 };

interface CachedPricing extends Cached {
  version: number;
  printed: PrintedJson;
}

/**
 * A page's visitors all read the same: its text is kept until the catalogue has another version. The version
 * is read first, so that what is kept under it is never older.
 */
export function createPricingHandlers(): Pick<Handlers, 'pricing.retrieve'> {
  const cache = createLruCache<CachedPricing>(CACHE_BOUNDS);
  return {
    'pricing.retrieve': async (context) => {
      const { db, environment: id, customerId } = context;
      if (customerId !== undefined) return await plansForCustomer(context, customerId);
      const version = await readCatalogueVersion(db, id);
      const cached = cache.find(id);
      if (cached?.version === version) return cached.printed;
      const text = exactJson(await offeredPlans(context));
      const printed = new PrintedJson(text);
      cache.nextRound();
      cache.put({ id, names: [id], bytes: 2 * text.length, usedRound: 0, version, printed });
      return printed;
    },
  };
}

async function offeredPlans(context: RequestContext): Promise<Pricing> {
  const { plans, prices, values } = await readOffer(context);
  return { plans: plans.map((plan) => offered(plan, prices.get(plan.id) ?? [], values)) };
}

/** Each plan with what choosing it would be. */
async function plansForCustomer(context: RequestContext, customerId: string): Promise<Pricing> {
  const { plans, prices, values } = await readOffer(context);
  const customer = await readCustomerPlans(context, customerId);
  return {
    plans: plans.map((plan) => {
      const own = prices.get(plan.id) ?? [];
      return { ...offered(plan, own, values), scenario: planScenario({ ...plan, prices: own }, customer) };
    }),
  };
}

async function readOffer({ db, environment }: RequestContext) {
  const plans = await listPublishedPlans(db, environment, PLANS_SHOWN_MAX);
  const versions = plans.map(({ id: planId, version }) => ({ planId, version }));
  const prices = pricesByPlan(await listPricesOfPlans(db, versions));
  const values = await listOfferedEntitlements(db, environment, versions);
  return { plans, prices, values };
}

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
