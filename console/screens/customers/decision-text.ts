import { amount } from '../../design/figures.ts';
import type { Tone } from '../../design/pieces.tsx';
import type { Decision } from './shapes.ts';

/** What a decision is, in one or two words. */
export function verdictOf({ allowed, reasonCode }: Decision): { tone: Tone; text: string } {
  if (allowed) return { tone: 'good', text: 'Allowed' };
  if (reasonCode === 'feature_not_included') return { tone: 'plain', text: 'Not included' };
  return { tone: 'bad', text: 'Denied' };
}

/** Those first that a limit denies, then others that are denied, those last that nobody sold. */
export function byUrgency(decisions: readonly Decision[]): Decision[] {
  return [...decisions].sort((one, other) => rankOf(one) - rankOf(other));
}

function rankOf({ allowed, reasonCode }: Decision): number {
  if (reasonCode === 'feature_not_included') return 4;
  if (reasonCode === 'limit_reached' || reasonCode === 'insufficient_credit') return 0;
  if (!allowed) return 1;
  return reasonCode === 'granted_soft_limit_exceeded' || reasonCode === 'granted_by_credit' ? 2 : 3;
}

/** Sentences for people: as the service decided, with the numbers as the console writes them. */
export function reasonOf(decision: Decision): string {
  const { reasonCode, limit, reason } = decision;
  const text = SENTENCES[reasonCode];
  if (text !== undefined) return text;
  const bound = limit === undefined ? '' : amount(limit);
  switch (reasonCode) {
    case 'granted':
      return `${heldText(decision)}.`;
    case 'granted_by_override':
      return `${heldText(decision)}, by an override.`;
    case 'granted_grace_period':
      return `${heldText(decision)}. Payment is overdue, and its grace is running.`;
    case 'granted_soft_limit_exceeded':
      return `The limit of ${bound} is passed, and may be.`;
    case 'granted_by_credit':
      return `The limit of ${bound} is used up, and credits pay for more.`;
    case 'limit_reached':
      return `The limit of ${bound} is used up.`;
    case 'insufficient_credit':
      return `The limit of ${bound} is used up, and the credits that are left do not pay for more.`;
    default:
      return reason;
  }
}

const SENTENCES: Partial<Record<Decision['reasonCode'], string>> = {
  granted_unlimited: 'Without a limit.',
  feature_not_included: 'No subscription of the customer includes it.',
  no_active_subscription: 'The customer has no active subscription.',
  subscription_past_due: 'Payment of the subscription is overdue, and its grace is over.',
  subscription_paused: 'The subscription is paused.',
  override_denied: 'An override takes it away.',
  customer_archived: 'The customer is archived.',
};

function heldText({ effectiveValue, current }: Decision): string {
  if (typeof effectiveValue === 'boolean' || effectiveValue === undefined) return 'Included';
  if (effectiveValue === null) return 'Without a limit';
  return current === undefined ? `Up to ${amount(effectiveValue)}` : 'Within the limit';
}

/** What a meter's usage is limited to. */
export function limitText(limit: string | undefined, decisions: readonly Decision[] | undefined): string {
  if (limit !== undefined) return amount(limit);
  if (decisions === undefined) return '…';
  if (decisions.length === 0) return 'Not limited';
  return decisions.some(({ allowed }) => allowed) ? 'Unlimited' : NO_ACCESS;
}

/** Every feature of the meter is denied whatever is used. */
export const NO_ACCESS = 'No access';
