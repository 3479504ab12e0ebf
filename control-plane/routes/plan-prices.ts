import type { PlanPrices } from '../../schemas/resources/plans.ts';
import { recordCatalogueChange } from '../changes/catalogue-change.ts';
import {
  knownPlan,
  planToChange,
  requestedVersion,
  versionToWrite,
  writePlan,
} from '../changes/change-plan.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { requireMatch } from '../http/etag.ts';
import type { Handlers } from '../http/request-context.ts';
import { readPrices, shownPrices } from '../input/read-prices.ts';
import type { PlanVersion } from '../store/plan-entitlements.ts';
import { findPlanPrices, putPlanPrices, type StoredPrice } from '../store/price-sets.ts';

export const planPriceHandlers: Pick<Handlers, 'plans.retrievePrices' | 'plans.replacePrices'> = {
  'plans.retrievePrices': async (context, { params, query }) => {
    const place = requestedVersion(await knownPlan(context, params.planId), query);
    return shownSet(place, await findPlanPrices(context.db, place));
  },

  'plans.replacePrices': async (context, { params, bodyText }) => {
    const { db, nowMs } = context;
    const plan = await planToChange(context, params.planId);
    const own = { planId: plan.id, version: plan.version };
    const before = shownSet(own, await findPlanPrices(db, own));
    requireMatch(context, before);
    const prices = await readPrices(context, bodyText);
    if (changedFields(before, shownSet(own, prices)).length === 0) return before;
    const next = await versionToWrite(context, plan);
    await putPlanPrices(db, next, { prices, nowMs });
    await writePlan(context, plan, { version: next.version });
    const after = shownSet(next, prices);
    const events = [{ type: 'plan.updated' as const, data: next }];
    await recordCatalogueChange(context, { objectId: plan.id, before, after, events });
    return after;
  },
};

function shownSet(place: PlanVersion, prices: readonly StoredPrice[]): PlanPrices {
  return { ...place, prices: shownPrices(prices) };
}
