import { randomBytes } from 'node:crypto';
import { planKeys } from '../../domain/rules/plan-key.ts';
import { nextPlanStatuses } from '../../domain/rules/plan-status.ts';
import { Defect } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import type { NewPlan, Plan } from '../../schemas/resources/plans.ts';
import type { PlanStatus } from '../../schemas/value-sets.ts';
import { beginCatalogueChange, recordCatalogueChange } from '../changes/catalogue-change.ts';
import {
  knownPlan,
  planToChange,
  recordPlanChange,
  shownPlan,
  shownPresentation,
  versionToWrite,
  writePlan,
} from '../changes/change-plan.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { illegalTransition } from '../changes/illegal-transition.ts';
import { requireMatch } from '../http/etag.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { isOtherPrices, mapPrices } from '../processor/map-prices.ts';
import { insertPlan, listPlans, type PlanRow } from '../store/plans.ts';
import { planCreditGrantHandlers } from './plan-credit-grants.ts';
import { planEntitlementHandlers } from './plan-entitlements.ts';
import { planPriceHandlers } from './plan-prices.ts';
import { registerProduct } from './products.ts';

type PlanOperation = Extract<keyof Handlers, `plans.${string}` | 'createPlan'>;

export const planHandlers: Pick<Handlers, PlanOperation> = {
  ...planEntitlementHandlers,
  ...planPriceHandlers,
  ...planCreditGrantHandlers,

  'plans.list': async ({ db, environment }, { query }) => {
    const { rows, total } = await listPlans(db, environment, query);
    return pageOf(rows.map(shownPlan), total, query);
  },

  createPlan: async (context, { body }) => {
    await beginCatalogueChange(context);
    await registerProduct(context, body.productId);
    const row = await insertUnderFreeKey(context, body);
    const { processorPriceIds = [] } = body;
    await mapPrices(context, { planId: row.id }, processorPriceIds);
    const after = shownPlan({ ...row, processorPriceIds: processorPriceIds.toSorted() });
    const data = { planId: row.id, status: row.status, version: row.version };
    const events = [{ type: 'plan.created' as const, data }];
    await recordCatalogueChange(context, { objectId: row.id, after, events });
    return after;
  },

  'plans.retrieve': async (context, { params }) => shownPlan(await knownPlan(context, params.planId)),

  'plans.update': async (context, { params, body }) => {
    const row = await matchingPlan(context, params.planId);
    const { name = row.name, description = row.description, productId = row.productId } = body;
    const { processorPriceIds = row.processorPriceIds } = body;
    const shown = {
      position: body.position === undefined ? row.position : body.position,
      highlights: body.highlights ?? row.highlights,
      callToAction: body.callToAction === undefined ? row.callToAction : body.callToAction,
    };
    const isSame = name === row.name && description === row.description && productId === row.productId;
    const isShown =
      changedFields(shownPresentation(row), shownPresentation({ ...row, ...shown })).length === 0;
    const isMapped = isOtherPrices(row.processorPriceIds, processorPriceIds);
    if (isSame && isShown && !isMapped) return shownPlan(row);
    if (isMapped) await mapPrices(context, { planId: row.id }, processorPriceIds);
    if (productId !== row.productId) await registerProduct(context, productId);
    // Prices of the processor, and what a pricing page shows, are not part of what a version offers.
    const { version } = isSame ? row : await versionToWrite(context, row);
    const updated = await writePlan(context, row, { name, description, productId, version, ...shown });
    const event = { type: 'plan.updated' as const, data: { planId: row.id, version } };
    return recordPlanChange(context, [row, updated], event);
  },

  'plans.publish': (context, { params }) => move(context, params.planId, 'published'),

  'plans.archive': (context, { params }) => move(context, params.planId, 'archived'),
};

/** As its caller saw it, to change. */
async function matchingPlan(context: RequestContext, name: string): Promise<PlanRow> {
  const row = await planToChange(context, name);
  requireMatch(context, shownPlan(row));
  return row;
}

/** To the same status: nothing is written and no event is emitted. */
async function move(
  context: RequestContext,
  name: string,
  status: Exclude<PlanStatus, 'draft'>,
): Promise<Plan> {
  const row = await matchingPlan(context, name);
  if (row.status === status) return shownPlan(row);
  const legal = nextPlanStatuses(row.status);
  if (!legal.includes(status)) throw illegalTransition({ from: row.status, to: status, legal });
  const updated = await writePlan(context, row, { status });
  const data = { planId: row.id, status, version: row.version };
  return recordPlanChange(context, [row, updated], { type: `plan.${status}`, data });
}

async function insertUnderFreeKey(
  { db, environment, nowMs }: RequestContext,
  { productId, name, description, position, highlights, callToAction }: NewPlan,
): Promise<PlanRow> {
  const id = newId('plan');
  const fields = {
    id,
    name,
    description: description ?? null,
    productId,
    position: position ?? null,
    highlights: highlights ?? [],
    callToAction: callToAction ?? null,
    createdAt: new Date(nowMs),
  };
  for (const key of planKeys(name, () => randomBytes(4).toString('hex'))) {
    const row = await insertPlan(db, environment, { ...fields, key });
    if (row) return row;
  }
  throw new Defect('there is no free key for a plan');
}
