import type { SubscriptionRow } from '../store/subscriptions.ts';

type Ending = Pick<SubscriptionRow, 'status' | 'trialEnd' | 'currentPeriodEnd'>;

/** The end of the running trial, else of the period: when a cancellation `at: period_end` takes effect. */
export function endOfTerm({ status, trialEnd, currentPeriodEnd }: Ending): Date {
  return status === 'trialing' && trialEnd ? trialEnd : currentPeriodEnd;
}
