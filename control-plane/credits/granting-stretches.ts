import type { GrantingStretch } from '../../domain/rules/recurring-credits.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { termOfRow } from '../subscriptions/subscription-fields.ts';

/** A change of a subscription, or its creation, and when it took effect. */
export interface SubscriptionChange {
  before: SubscriptionRow | undefined;
  after: SubscriptionRow;
  atMs: number;
  /** Since when the term before it held, as that was recorded: an earlier change may be of the same time. */
  heldFromMs: number;
}

/** What was recorded of a subscription's grants. */
export interface GrantingSince {
  /** When time alone was to make the next grant due, if it was. */
  scheduledMs: number | undefined;
  /** From when on what holds now, and what held until the change, holds: earlier times had their grants. */
  afterMs: number;
  beforeMs: number;
}

/** A subscription that is not paid for, or paused, gets its grants when that is over. */
const GRANTING: ReadonlySet<string> = new Set(['trialing', 'active']);

/** Whether the change may make a grant due. */
export function concernsGrants({ before, after }: Omit<SubscriptionChange, 'atMs' | 'heldFromMs'>): boolean {
  if (!before) return true;
  const [old, now] = [before, after].map(({ status, planId, planVersion, ...row }) => {
    const times = [row.startsAt, row.anchor, row.currentPeriodStart, row.currentPeriodEnd];
    return [status, planId, planVersion, row.interval, ...times.map((at) => at.getTime())].join(' ');
  });
  return old !== now;
}

/** The times for which grants are to be made now: as it was until the change, and as it is from then on. */
export function stretchesOf(
  { before, after, atMs }: SubscriptionChange,
  { nowMs, since }: { nowMs: number; since: GrantingSince },
): GrantingStretch[] {
  const stretches: GrantingStretch[] = [];
  if (before && isGranting(before)) stretches.push(...untilChange(before, atMs, since));
  // A period that is found late may have begun before it had its status.
  const firstMs = Math.max(atMs, since.afterMs, grantsFrom(after), after.createdAt.getTime());
  const lastMs = Math.min(nowMs, endOf(after) - 1);
  if (isGranting(after) && firstMs <= lastMs) {
    stretches.push({ ...placeOf(after), firstMs, lastMs, includesBegun: true });
  }
  return stretches;
}

export function isGranting({ status }: SubscriptionRow): boolean {
  return GRANTING.has(status);
}

/** What was due before it had its status was made, or is not made up for: it was not paid for. */
function grantsFrom({ startsAt, statusSince }: SubscriptionRow): number {
  return Math.max(startsAt.getTime(), statusSince.getTime());
}

/** Nothing is granted from then on: a cancellation may have come that is noticed later. */
function endOf(row: SubscriptionRow): number {
  const cancelMs = row.cancelAt?.getTime() ?? Number.POSITIVE_INFINITY;
  return isLinked(row) ? Math.min(cancelMs, row.currentPeriodEnd.getTime()) : cancelMs;
}

/** The processor reports when its next period begins. */
function isLinked({ processorSubscriptionId }: SubscriptionRow): boolean {
  return processorSubscriptionId !== null;
}

/**
 * Of the running period the months that were due since; and where the subscription clock was late, the
 * periods that had begun since.
 */
function untilChange(
  before: SubscriptionRow,
  atMs: number,
  { scheduledMs, beforeMs }: GrantingSince,
): GrantingStretch[] {
  const endMs = before.currentPeriodEnd.getTime();
  const firstMs = Math.max(scheduledMs ?? endMs, beforeMs, grantsFrom(before));
  const lastMs = (isLinked(before) ? Math.min(atMs, endMs) : atMs) - 1;
  if (firstMs > lastMs) return [];
  const next = before.pendingPlanId;
  const place = placeOf(before);
  if (next === null || lastMs < endMs) return [{ ...place, firstMs, lastMs, includesBegun: false }];
  return [
    { ...place, firstMs, lastMs: endMs - 1, includesBegun: false },
    { ...place, planId: next, planVersion: null, firstMs: endMs, lastMs, includesBegun: false },
  ];
}

export function placeOf(row: SubscriptionRow) {
  return { term: termOfRow(row), planId: row.planId, planVersion: row.planVersion };
}
