import type { PlanStatus } from '../../schemas/value-sets.ts';
/** What a plan's status may change to; to stay is always allowed. */
export function nextPlanStatuses(from: PlanStatus): readonly PlanStatus[] {
  return NEXT[from];
}

const NEXT: Record<PlanStatus, readonly PlanStatus[]> = {
  draft: ['published', 'archived'],
  published: ['archived'],
  archived: [],
};

export interface ChangingPlan {
  status: PlanStatus;
  version: number;
  /** Some subscription is pinned to that version. */
  isPinned: boolean;
}

/**
 * The version that a change of the plan makes. A draft is changed in place unless a subscription is pinned to
 * it; what was ever offered keeps each of its versions, since subscriptions may stay on one, an archived plan
 * too.
 */
export function versionAfterChange({ status, version, isPinned }: ChangingPlan): number {
  return status === 'draft' && !isPinned ? version : version + 1;
}
