import type { RecurringGrant } from '../../domain/rules/recurring-credits.ts';
import type { PlanCreditGrants } from '../../schemas/resources/recurring-grants.ts';
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
import { readRecurringGrants, shownRecurringGrants } from '../input/read-recurring-grants.ts';
import { scheduleSubscribers } from '../store/credit-schedules.ts';
import { findPlanCreditGrants, insertPlanCreditGrants } from '../store/plan-credit-grants.ts';
import type { PlanVersion } from '../store/plan-entitlements.ts';

type CreditGrantOperation = 'plans.retrieveCreditGrants' | 'plans.replaceCreditGrants';

export const planCreditGrantHandlers: Pick<Handlers, CreditGrantOperation> = {
  'plans.retrieveCreditGrants': async (context, { params, query }) => {
    const place = requestedVersion(await knownPlan(context, params.planId), query);
    return shownSet(place, await findPlanCreditGrants(context.db, place));
  },

  'plans.replaceCreditGrants': async (context, { params, bodyText }) => {
    const { db, environment, nowMs } = context;
    const plan = await planToChange(context, params.planId);
    const own = { planId: plan.id, version: plan.version };
    const before = shownSet(own, await findPlanCreditGrants(db, own));
    requireMatch(context, before);
    const creditGrants = readRecurringGrants(bodyText);
    if (changedFields(before, shownSet(own, creditGrants)).length === 0) return before;
    const next = await versionToWrite(context, plan);
    await insertPlanCreditGrants(db, next, { creditGrants, nowMs });
    await writePlan(context, plan, { version: next.version });
    // A monthly grant may be due before the next period begins.
    const isMonthly = creditGrants.some(({ every }) => every === 'month');
    if (isMonthly) await scheduleSubscribers(db, environment, { ...next, dueAt: new Date(nowMs) });
    const after = shownSet(next, creditGrants);
    const events = [{ type: 'plan.updated' as const, data: next }];
    await recordCatalogueChange(context, { objectId: plan.id, before, after, events });
    return after;
  },
};

function shownSet(place: PlanVersion, grants: readonly RecurringGrant[]): PlanCreditGrants {
  return { ...place, creditGrants: shownRecurringGrants(grants) };
}
