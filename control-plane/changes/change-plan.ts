import { versionAfterChange } from '../../domain/rules/plan-status.ts';
import type { ChangeEvent } from '../../schemas/events.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { Plan } from '../../schemas/resources/plans.ts';
import type { RequestContext } from '../http/request-context.ts';
import { findPlanCreditGrants, insertPlanCreditGrants } from '../store/plan-credit-grants.ts';
import { copyPlanEntitlements, type PlanVersion } from '../store/plan-entitlements.ts';
import { findPlan, isVersionPinned, lockPlan, type PlanRow, updatePlan } from '../store/plans.ts';
import { findPlanPrices, putPlanPrices } from '../store/price-sets.ts';
import { beginCatalogueChange, recordCatalogueChange } from './catalogue-change.ts';

/**
 * By id or key, locked against other changes and against new subscriptions. The catalogue is locked first and
 * the plan after it; a new subscription locks the plan alone.
 */
export async function planToChange(context: RequestContext, name: string): Promise<PlanRow> {
  await beginCatalogueChange(context);
  return (await lockPlan(context.db, context.environment, name)) ?? unknownPlan(name);
}

/**
 * The version that a change of a locked plan is written to: its own, or the next one, which begins with the
 * entitlements, prices and credit grants of its own.
 */
export async function versionToWrite(context: RequestContext, row: PlanRow): Promise<PlanVersion> {
  const { db, environment, nowMs } = context;
  const own = { planId: row.id, version: row.version };
  const isPinned = await isVersionPinned(db, environment, row);
  const next = { planId: row.id, version: versionAfterChange({ ...row, isPinned }) };
  if (next.version === own.version) return own;
  await copyPlanEntitlements(db, row.id, { from: own.version, to: next.version });
  const prices = await findPlanPrices(db, own);
  if (prices.length > 0) await putPlanPrices(db, next, { prices, nowMs });
  const creditGrants = await findPlanCreditGrants(db, own);
  if (creditGrants.length > 0) await insertPlanCreditGrants(db, next, { creditGrants, nowMs });
  return next;
}

/** Writes the changed fields of a plan. */
export async function writePlan(
  { db, environment, nowMs }: RequestContext,
  row: PlanRow,
  fields: Partial<PlanRow>,
): Promise<PlanRow> {
  const updated = await updatePlan(db, environment, { ...row, ...fields, updatedAt: new Date(nowMs) });
  if (!updated) throw new Defect('a plan is missing while the catalogue is locked');
  return updated;
}

/** Records a written change and notifies the caches. */
export async function recordPlanChange(
  context: RequestContext,
  [row, updated]: [before: PlanRow, after: PlanRow],
  event: ChangeEvent,
): Promise<Plan> {
  const [before, after] = [shownPlan(row), shownPlan(updated)];
  await recordCatalogueChange(context, { objectId: row.id, before, after, events: [event] });
  return after;
}

/** By id or key. */
export async function knownPlan({ db, environment }: RequestContext, name: string): Promise<PlanRow> {
  return (await findPlan(db, environment, name)) ?? unknownPlan(name);
}

/** Throws Rejected `plan_not_found` for a version that the plan does not have yet. */
export function requestedVersion(
  plan: Pick<PlanRow, 'id' | 'version'>,
  { version = plan.version }: { version?: number },
): PlanVersion {
  if (version <= plan.version) return { planId: plan.id, version };
  const message = `The plan ${plan.id} has no version ${version}.`;
  throw new Rejected('plan_not_found', message, { param: 'version' });
}

function unknownPlan(name: string): never {
  throw new Rejected('plan_not_found', `There is no plan ${name}.`, { param: 'planId' });
}

/** What a pricing page shows of it. */
export function shownPresentation({ position, highlights, callToAction }: PlanRow) {
  return {
    ...(position === null ? {} : { position }),
    ...(highlights.length === 0 ? {} : { highlights }),
    ...(callToAction === null ? {} : { callToAction }),
  };
}

export function shownPlan(row: PlanRow): Plan {
  const { id, key, name, status, productId, version } = row;
  const { description, processorPriceIds, createdAt, updatedAt } = row;
  return {
    id,
    key,
    name,
    status,
    productId,
    version,
    ...(description === null ? {} : { description }),
    ...shownPresentation(row),
    ...(processorPriceIds.length === 0 ? {} : { processorPriceIds }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}
