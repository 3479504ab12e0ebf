import type { PlanEntitlements } from '../../schemas/resources/plans.ts';
import { recordCatalogueChange } from '../changes/catalogue-change.ts';
import {
  knownPlan,
  planToChange,
  requestedVersion,
  versionToWrite,
  writePlan,
} from '../changes/change-plan.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { requireMatch } from '../http/etag.ts';
import type { Handlers } from '../http/request-context.ts';
import { readEntitlementValues, shownEntitlements } from '../input/read-entitlement-values.ts';
import type { EntitlementValueRow } from '../store/entitlement-values.ts';
import {
  deletePlanEntitlements,
  insertPlanEntitlements,
  listPlanEntitlements,
  type PlanVersion,
} from '../store/plan-entitlements.ts';

type EntitlementOperation = 'plans.retrieveEntitlements' | 'plans.replaceEntitlements';

export const planEntitlementHandlers: Pick<Handlers, EntitlementOperation> = {
  'plans.retrieveEntitlements': async (context, { params, query }) => {
    const plan = await knownPlan(context, params.planId);
    const place = requestedVersion(plan, query);
    return shownSet(place, await listPlanEntitlements(context.db, context.environment, place));
  },

  'plans.replaceEntitlements': async (context, { params, bodyText }) => {
    const { db, environment } = context;
    const plan = await planToChange(context, params.planId);
    const old = { planId: plan.id, version: plan.version };
    const before = shownSet(old, await listPlanEntitlements(db, environment, old));
    requireMatch(context, before);
    const values = await readEntitlementValues(context, bodyText);
    if (changedFields(before, shownSet(old, values)).length === 0) return before;
    const next = await versionToWrite(context, plan);
    await deletePlanEntitlements(db, next);
    await insertPlanEntitlements(db, next, values);
    await writePlan(context, plan, { version: next.version });
    const after = shownSet(next, values);
    const events = [{ type: 'plan.updated' as const, data: next }];
    await recordCatalogueChange(context, { objectId: plan.id, before, after, events });
    await touchEntitlements(context, { planId: plan.id });
    return after;
  },
};

function shownSet(place: PlanVersion, rows: readonly EntitlementValueRow[]): PlanEntitlements {
  return { ...place, entitlements: shownEntitlements(rows) };
}
