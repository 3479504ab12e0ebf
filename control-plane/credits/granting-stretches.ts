import type { GrantingStretch } from '../../domain/rules/recurring-credits.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import { termOfRow } from '../subscriptions/subscription-fields.ts';

/** A change of a subscription, or its creation, and when it took effect. */
export interface SubscriptionChange {
  before: SubscriptionRow | undefined;
  after: SubscriptionRow;
  atMs: number;
}

/** Up to when grants were made, apart from those at the start of a period; undefined: none is scheduled. */
type Scheduled = number | undefined;

/** What a subscription gives its grants: whoever does not pay, or pauses, gets them when that is over. */
const GRANTING: ReadonlySet<string> = new Set(['trialing', 'active']);

/** Whether the change may make a grant due. */
export function concernsGrants({ before, after }: Omit<SubscriptionChange, 'atMs'>): boolean {
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
  { nowMs, scheduledMs }: { nowMs: number; scheduledMs: Scheduled },
): GrantingStretch[] {
  const stretches: GrantingStretch[] = [];
  if (before && isGranting(before)) stretches.push(...untilChange(before, { atMs, scheduledMs }));
  const firstMs = Math.max(atMs, after.startsAt.getTime(), after.createdAt.getTime());
  const lastMs = Math.min(nowMs, after.currentPeriodEnd.getTime() - 1);
  if (isGranting(after) && firstMs <= lastMs) {
    stretches.push({ ...placeOf(after), firstMs, lastMs, includesBegun: true });
  }
  return stretches;
}

/** When time alone makes the next grant of a subscription due: at its start, or with its next month. */
export function isGranting({ status }: SubscriptionRow): boolean {
  return GRANTING.has(status);
}

/**
 * Of the running period the months that were due since; and where the subscription clock was late, the
 * periods that had begun since. When the next period of a linked subscription begins the processor reports.
 */
function untilChange(
  before: SubscriptionRow,
  { atMs, scheduledMs }: { atMs: number; scheduledMs: Scheduled },
): GrantingStretch[] {
  const endMs = before.currentPeriodEnd.getTime();
  const firstMs = Math.max(scheduledMs ?? endMs, before.startsAt.getTime());
  const isLinked = before.processorSubscriptionId !== null;
  const lastMs = isLinked ? Math.min(atMs, endMs) - 1 : atMs - 1;
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
