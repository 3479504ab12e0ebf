import type { SubscriptionStatus } from '../../schemas/value-sets.ts';

const NEXT: Record<SubscriptionStatus, readonly SubscriptionStatus[]> = {
  incomplete: ['active', 'trialing', 'incomplete_expired', 'canceled'],
  incomplete_expired: [],
  trialing: ['active', 'past_due', 'paused', 'canceled'],
  active: ['past_due', 'unpaid', 'paused', 'canceled'],
  past_due: ['active', 'unpaid', 'paused', 'canceled'],
  unpaid: ['active', 'canceled'],
  paused: ['active', 'canceled'],
  canceled: [],
};

/** What it may change to, itself not counted: to stay is always allowed. */
export function nextStatuses(from: SubscriptionStatus): readonly SubscriptionStatus[] {
  return NEXT[from];
}

/** Nothing comes after it. */
export function hasEnded(status: SubscriptionStatus): boolean {
  return NEXT[status].length === 0;
}
