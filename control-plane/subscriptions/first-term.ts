import {
  type BillingCycle,
  cycleOf,
  isBoundary,
  later,
  periodAt,
  type SubscriptionTerm,
} from '../../domain/rules/billing-period.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { NewSubscription } from '../../schemas/resources/subscriptions.ts';
import { firstLength } from './period-length.ts';
import { givenTime, requirePeriod } from './read-times.ts';

/** What determines the first period, in addition to the body. */
interface Beginning {
  nowMs: number;
  /** For a trialing subscription. */
  trialEnd: Date | null;
}

/**
 * The first period of a new subscription, and what follows, with the defaults that openapi.json states: a
 * trial is a period of its own, and the first that is paid begins where it ends. Throws Rejected.
 */
export function firstTerm(body: NewSubscription, { nowMs, trialEnd }: Beginning): SubscriptionTerm {
  const length = firstLength(body);
  const anchor = givenTime(body.billingAnchor);
  const lattice = anchor && { ...length, anchorMs: anchor.getTime() };
  const fromMs = givenTime(body.currentPeriodStart)?.getTime() ?? nowMs;
  const given = givenTime(body.currentPeriodEnd) ?? trialEnd;
  const toMs = given?.getTime() ?? (lattice ? periodAt(lattice, fromMs).toMs : later(length, fromMs, 1));
  const period = { fromMs, toMs };
  requirePeriod(period, body.currentPeriodEnd === undefined && trialEnd ? 'trialEnd' : 'currentPeriodEnd');
  if (lattice) return { cycle: requireOn(lattice, toMs), period };
  const isTrial = trialEnd?.getTime() === toMs;
  return { cycle: isTrial ? { ...length, anchorMs: toMs } : cycleOf(period, length), period };
}

/** Throws Rejected. */
function requireOn(cycle: BillingCycle, endMs: number): BillingCycle {
  if (isBoundary(cycle, endMs)) return cycle;
  const message =
    'The first period (for a trial: `trialEnd`) must end a whole number of intervals before or after ' +
    '`billingAnchor`.';
  throw new Rejected('invalid_request', message, { param: 'billingAnchor' });
}
