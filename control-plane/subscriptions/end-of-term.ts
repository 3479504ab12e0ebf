import type { SubscriptionRow } from '../store/subscriptions.ts';

type Ending = Pick<SubscriptionRow, 'status' | 'trialEnd' | 'currentPeriodEnd'>;

/** Of what runs now: of the trial, else of the period. There a cancellation `at: period_end` takes effect. */
export function endOfTerm({ status, trialEnd, currentPeriodEnd }: Ending): Date {
  return status === 'trialing' && trialEnd ? trialEnd : currentPeriodEnd;
}
