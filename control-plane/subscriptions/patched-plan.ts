import { Rejected } from '../../schemas/failures.ts';
import type { SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { requireVersion, subscribedPlan } from './subscribed-objects.ts';

type PlanFields = Pick<SubscriptionFields, 'planId' | 'planVersion' | 'pendingPlanId'>;

/** Throws Rejected. A subscription may stay on a plan that was archived since. */
export async function patchedPlan(
  context: RequestContext,
  row: SubscriptionRow,
  body: SubscriptionPatch,
): Promise<PlanFields> {
  const { planId, planVersion, at } = body;
  const { pendingPlanId } = row;
  const kept = { planId: row.planId, planVersion: row.planVersion };
  if (at === 'period_end') return { ...kept, pendingPlanId: await waitingPlan(context, row, body) };
  if (planId === null)
    throw rejected('planId', 'null removes a pending plan change; send it with `at: period_end`.');
  const waiting = planId !== undefined || body.pendingPlanId === null ? null : pendingPlanId;
  if (planId === undefined && planVersion === undefined) return { ...kept, pendingPlanId: waiting };
  const plan = await subscribedPlan(context, planId ?? row.planId, row.planId);
  if (typeof planVersion === 'number') requireVersion(plan, planVersion);
  // A new plan starts without a pinned version.
  const keptVersion = plan.id === row.planId ? row.planVersion : null;
  const version = planVersion === undefined ? keptVersion : planVersion;
  return { planId: plan.id, planVersion: version, pendingPlanId: waiting };
}

/** A change to the present plan needs no pending plan. */
async function waitingPlan(
  context: RequestContext,
  row: SubscriptionRow,
  { planId, planVersion, pendingPlanId }: SubscriptionPatch,
): Promise<string | null> {
  if (planVersion !== undefined) {
    throw rejected(
      'planVersion',
      '`planVersion` takes effect at once. Set it after the plan change has taken effect.',
    );
  }
  if (planId === null || (planId === undefined && pendingPlanId === null)) return null;
  if (planId === undefined) throw rejected('at', '`at` sets when a new `planId` takes effect. Send both.');
  const plan = await subscribedPlan(context, planId, row.planId);
  return plan.id === row.planId ? null : plan.id;
}

function rejected(param: string, message: string): Rejected {
  return new Rejected('invalid_request', message, { param });
}
