import { hasEnded, nextStatuses } from '../../domain/rules/subscription-status.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import type { SubscriptionStatus } from '../../schemas/value-sets.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { illegalTransition } from '../changes/illegal-transition.ts';
import type { RequestContext } from '../http/request-context.ts';
import { readMetadata } from '../input/read-metadata.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { changeLocally } from './change-locally.ts';
import { patchedPlan } from './patched-plan.ts';
import { patchedTerm } from './patched-term.ts';
import { givenTime, requireTrialAhead } from './read-times.ts';
import { shownSubscription } from './shown-subscription.ts';
import { movedTo, rolledTo } from './subscription-fields.ts';

/** Throws Rejected: first for the fields, then for the objects that they name. The row is locked. */
export async function patchSubscription(
  context: RequestContext,
  locked: SubscriptionRow,
  { body, bodyText }: { body: SubscriptionPatch; bodyText: string },
): Promise<SubscriptionRow> {
  const { nowMs } = context;
  const row = withRunningPeriod(locked, body, nowMs);
  const { status = row.status } = body;
  const metadata = readMetadata(bodyText) ?? row.metadata;
  // Before the times are checked: a subscription that can never trial again needs no end of a trial.
  requireTransition(row, status);
  const trialEnd = patchedTrialEnd(row, body, nowMs);
  const term = patchedTerm(row, body, { status, trialEnd, nowMs });
  const processorSubscriptionId = patchedProcessorId(row, body);
  const plan = await patchedPlan(context, row, body);
  const fields = { ...term, ...plan, processorSubscriptionId, ...movedTo(row, status, new Date(nowMs)) };
  if (hasEnded(row.status)) requireOnlyMetadata(row, fields);
  return changeLocally(context, locked, { ...fields, metadata });
}

/**
 * A change for the next period applies to the period after the present one, even if the clock job has not
 * rolled yet.
 */
function withRunningPeriod(row: SubscriptionRow, body: SubscriptionPatch, nowMs: number): SubscriptionRow {
  const isOfNext =
    body.at === 'period_end' || body.interval !== undefined || body.intervalCount !== undefined;
  const isOurs = row.processorSubscriptionId === null && !hasEnded(row.status);
  return isOfNext && isOurs ? { ...row, ...rolledTo(row, nowMs) } : row;
}

/** Throws Rejected `illegal_transition`. A change to the present status is always allowed. */
export function requireTransition({ status: from }: SubscriptionRow, to: SubscriptionStatus): void {
  const legal = nextStatuses(from);
  if (to !== from && !legal.includes(to)) throw illegalTransition({ from, to, legal });
}

/** Throws Rejected. */
function patchedTrialEnd(row: SubscriptionRow, body: SubscriptionPatch, nowMs: number): Date | null {
  const trialEnd = patched(givenTime(body.trialEnd), row.trialEnd);
  const { status = row.status } = body;
  const isOtherTrial = status !== row.status || trialEnd?.getTime() !== row.trialEnd?.getTime();
  if (status === 'trialing' && isOtherTrial) requireTrialAhead(trialEnd, nowMs);
  return trialEnd;
}

function patched<T>(given: T | null | undefined, kept: T | null): T | null {
  return given === undefined ? kept : given;
}

function patchedProcessorId(row: SubscriptionRow, body: SubscriptionPatch): string | null {
  const { processorSubscriptionId: given = row.processorSubscriptionId } = body;
  if (row.processorSubscriptionId === null || given === row.processorSubscriptionId) return given;
  throw new Rejected('invalid_request', '`processorSubscriptionId` cannot be changed once it is set.', {
    param: 'processorSubscriptionId',
  });
}

/** Throws Rejected `illegal_transition`: an ended subscription does not change any more. */
function requireOnlyMetadata(row: SubscriptionRow, fields: Partial<SubscriptionFields>): void {
  const changes = changedFields(shownSubscription(row), shownSubscription({ ...row, ...fields }));
  if (changes.length > 0) throw ended(row);
}

export function ended({ status }: SubscriptionRow): Rejected {
  return new Rejected(
    'illegal_transition',
    `A subscription that is ${status} can no longer be changed, except for its metadata.`,
    { details: { from: status, legal: [] } },
  );
}
