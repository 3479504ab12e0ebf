import { Rejected } from '../../schemas/failures.ts';
import type { SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import { hasEnded, nextStatuses, type SubscriptionStatus } from '../../schemas/rules/subscription-status.ts';
import { changedFields } from '../changed-fields.ts';
import { illegalTransition } from '../illegal-transition.ts';
import { readMetadata } from '../read-metadata.ts';
import type { RequestContext } from '../request-context.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { changeSubscription } from './change-subscription.ts';
import { givenMoment, requirePeriod, requireTrialAhead } from './moments.ts';
import { shownSubscription } from './shown-subscription.ts';
import { requireVersion, subscribedPlan } from './subscribed-objects.ts';
import { inPeriod, movedTo } from './subscription-fields.ts';

/** Throws Rejected: first for the fields, then for what they name. The row is locked. */
export async function patchSubscription(
  context: RequestContext,
  row: SubscriptionRow,
  { body, bodyText }: { body: SubscriptionPatch; bodyText: string },
): Promise<SubscriptionRow> {
  const term = patchedTerm(row, body, context.nowMs);
  const metadata = readMetadata(bodyText) ?? row.metadata;
  const { status = row.status } = body;
  requireTransition(row, status);
  const plan = await patchedPlan(context, row, body);
  const fields = { ...term, ...plan, ...movedTo(row, status, new Date(context.nowMs)) };
  if (hasEnded(row.status)) requireOnlyMetadata(row, fields);
  return changeSubscription(context, row, { ...fields, metadata });
}

/** Throws Rejected `illegal_transition`. To the status it has it may always go. */
export function requireTransition({ status: from }: SubscriptionRow, to: SubscriptionStatus): void {
  const legal = nextStatuses(from);
  if (to !== from && !legal.includes(to)) throw illegalTransition({ from, to, legal });
}

type Term = Partial<SubscriptionFields>;

function patchedTerm(row: SubscriptionRow, body: SubscriptionPatch, nowMs: number): Term {
  const start = givenMoment(body.currentPeriodStart) ?? row.currentPeriodStart;
  const end = givenMoment(body.currentPeriodEnd) ?? row.currentPeriodEnd;
  if (body.currentPeriodStart !== undefined || body.currentPeriodEnd !== undefined) requirePeriod(start, end);
  const trialEnd = patched(givenMoment(body.trialEnd), row.trialEnd);
  const { status = row.status } = body;
  const isOtherTrial = status !== row.status || trialEnd?.getTime() !== row.trialEnd?.getTime();
  if (status === 'trialing' && isOtherTrial) requireTrialAhead(trialEnd, nowMs);
  return {
    ...inPeriod(row, { fromMs: start.getTime(), toMs: end.getTime() }),
    trialEnd,
    cancelAt: patched(givenMoment(body.cancelAt), row.cancelAt),
    processorSubscriptionId: patchedProcessorId(row, body),
  };
}

function patched<T>(given: T | null | undefined, kept: T | null): T | null {
  return given === undefined ? kept : given;
}

function patchedProcessorId(row: SubscriptionRow, body: SubscriptionPatch): string | null {
  const { processorSubscriptionId: given = row.processorSubscriptionId } = body;
  if (row.processorSubscriptionId === null || given === row.processorSubscriptionId) return given;
  throw new Rejected('invalid_request', '`processorSubscriptionId` is set once and never changes.', {
    param: 'processorSubscriptionId',
  });
}

/** It may stay on a plan that was archived since. Another plan begins with no version pinned. */
async function patchedPlan(
  context: RequestContext,
  row: SubscriptionRow,
  { planId, planVersion }: SubscriptionPatch,
): Promise<Pick<SubscriptionFields, 'planId' | 'planVersion'>> {
  if (planId === undefined && planVersion === undefined) {
    return { planId: row.planId, planVersion: row.planVersion };
  }
  const plan = await subscribedPlan(context, planId ?? row.planId, row.planId);
  if (typeof planVersion === 'number') requireVersion(plan, planVersion);
  const kept = plan.id === row.planId ? row.planVersion : null;
  return { planId: plan.id, planVersion: patched(planVersion, kept) };
}

/** Throws Rejected `illegal_transition`: nothing comes after the end. */
function requireOnlyMetadata(row: SubscriptionRow, fields: Partial<SubscriptionFields>): void {
  const changes = changedFields(shownSubscription(row), shownSubscription({ ...row, ...fields }));
  if (changes.length > 0) throw ended(row);
}

export function ended({ status }: SubscriptionRow): Rejected {
  return new Rejected(
    'illegal_transition',
    `What is ${status} can no longer be changed, but for its metadata.`,
    { details: { from: status, legal: [] } },
  );
}
