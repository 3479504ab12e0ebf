import type { DeniedCode, GrantedCode } from '../reason-codes.ts';
import type { FeatureType } from '../resources/entitlement-values.ts';
import type { EntitlementDecision } from '../resources/entitlements.ts';
import { decimalUnits, unitsText } from './decimal.ts';
import { exactNumber } from './exact-json.ts';
import type { EffectiveEntitlement, EntitlementView, Suspension } from './resolve-entitlements.ts';
import { timestampText } from './timestamp.ts';

export interface EntitlementQuestion {
  /** As the answer names them: by id and key where they exist. */
  customerId: string;
  featureKey: string;
  /** Canonical decimal text from 0 on; left out: 1 of a metered feature, else 0. */
  requested?: string | undefined;
}

/** What is known of the question. */
export interface EntitlementFacts {
  customer: 'unknown' | 'archived' | 'active';
  /** Undefined when there is no such feature. */
  featureType: FeatureType | undefined;
  view: EntitlementView;
  /** Of a metered feature that the view holds. */
  counter?: MeterReading | undefined;
}

/** Where the linked meter stands in the current period. */
export interface MeterReading {
  /** Canonical decimal text; below 0 after corrections. */
  current: string;
  resetsAtMs: number;
  /** Everything acknowledged before this moment is counted. */
  asOfMs: number;
}

/** The answer to one question. Source: the contract, §6. */
export function decideEntitlement(
  question: EntitlementQuestion,
  facts: EntitlementFacts,
): EntitlementDecision {
  const { customerId, featureKey } = question;
  const { customer, featureType, view, counter } = facts;
  const named = { customerId, featureKey };
  if (customer === 'unknown') {
    return denied(named, 'customer_not_found', `There is no customer ${customerId}.`);
  }
  const typed = { ...named, ...(featureType === undefined ? {} : { type: featureType }) };
  if (customer === 'archived') return denied(typed, 'customer_archived', 'The customer is archived.');
  if (featureType === undefined) {
    return denied(named, 'feature_not_found', `There is no feature ${featureKey}.`);
  }
  const held = view.features.get(featureKey);
  if (!held || (held.value === false && view.withheld.has(featureKey))) {
    return { ...denied(typed, ...whyNotHeld(featureKey, view)), sources: [] };
  }
  const verdict =
    held.type === 'boolean' ? judgeFlag(featureKey, held) : judgeAmount(question, held, counter);
  return { ...verdict, ...typed, sources: held.sources, ...shownValue(held), ...shownCounter(held, counter) };
}

type Verdict = Pick<EntitlementDecision, 'allowed' | 'reasonCode' | 'reason'>;

type Named = Pick<EntitlementDecision, 'customerId' | 'featureKey' | 'type'>;

function denied(named: Named, reasonCode: DeniedCode, reason: string): EntitlementDecision {
  return { allowed: false, reason, ...named, reasonCode };
}

/** What is nearest to having it. */
function whyNotHeld(
  featureKey: string,
  { withheld, standing }: EntitlementView,
): [code: DeniedCode, reason: string] {
  const suspension = withheld.get(featureKey) ?? standing;
  if (suspension === 'past_due' || suspension === 'paused') return SUSPENDED[suspension];
  return suspension === 'none'
    ? ['no_active_subscription', 'The customer has no active subscription.']
    : ['feature_not_included', `No subscription of the customer includes ${featureKey}.`];
}

const SUSPENDED: Record<Suspension, [code: DeniedCode, reason: string]> = {
  past_due: ['subscription_past_due', 'Payment of the subscription is overdue and its grace is over.'],
  paused: ['subscription_paused', 'The subscription is paused.'],
};

function judgeFlag(featureKey: string, held: EffectiveEntitlement): Verdict {
  if (held.value === true) return granted(held, 'granted', `${featureKey} is included`);
  const reason = `${featureKey} is not included in ${held.sources.join(', ')}.`;
  return { allowed: false, reasonCode: 'feature_not_included', reason };
}

function judgeAmount(
  { featureKey, requested }: EntitlementQuestion,
  held: EffectiveEntitlement,
  counter: MeterReading | undefined,
): Verdict {
  if (held.type === 'metered' && !counter) throw new TypeError('a metered feature is decided by its counter');
  const asked = requested ?? (counter ? '1' : '0');
  const usage = `${counter ? `${counter.current} used and ` : ''}${asked} requested`;
  if (held.value === null) {
    return granted(held, 'granted_unlimited', `${usage}, and ${featureKey} is unlimited`);
  }
  const limit = String(held.value);
  const ofLimit = `limit of ${limit} for ${featureKey}`;
  const wanted = decimalUnits(counter?.current ?? '0') + decimalUnits(asked);
  if (wanted <= decimalUnits(limit)) return granted(held, 'granted', `${usage}, within the ${ofLimit}`);
  if (held.soft) {
    return granted(held, 'granted_soft_limit_exceeded', `${usage}, beyond the soft ${ofLimit}`);
  }
  const reset = counter ? `; it resets at ${timestampText(counter.resetsAtMs)}` : '';
  return { allowed: false, reasonCode: 'limit_reached', reason: `${usage}, beyond the ${ofLimit}${reset}.` };
}

/** That a payment is overdue is told unless a passed limit is. */
function granted({ graceEndsMs }: EffectiveEntitlement, code: GrantedCode, reason: string): Verdict {
  const inGrace = graceEndsMs !== undefined;
  return {
    allowed: true,
    reasonCode: inGrace && code !== 'granted_soft_limit_exceeded' ? 'granted_grace_period' : code,
    reason: inGrace
      ? `${reason}; payment is overdue, and grace ends at ${timestampText(graceEndsMs)}.`
      : `${reason}.`,
  };
}

function shownValue({ type, value }: EffectiveEntitlement): Partial<EntitlementDecision> {
  const effectiveValue = shownEffectiveValue(value);
  return type === 'boolean' || value === null
    ? { effectiveValue }
    : { effectiveValue, limit: exactNumber(String(value)) };
}

/** As the API shows it: a number for a decimal, null for unlimited. */
export function shownEffectiveValue(value: EffectiveEntitlement['value']) {
  return typeof value === 'string' ? exactNumber(value) : value;
}

function shownCounter(
  { type, value }: EffectiveEntitlement,
  counter: MeterReading | undefined,
): Partial<EntitlementDecision> {
  if (type !== 'metered' || !counter) return {};
  const { current, resetsAtMs, asOfMs } = counter;
  return {
    current: exactNumber(current),
    ...(typeof value === 'string' ? { remaining: exactNumber(remainingOf(value, current)) } : {}),
    resetsAt: timestampText(resetsAtMs),
    asOf: timestampText(asOfMs),
  };
}

function remainingOf(limit: string, current: string): string {
  const units = decimalUnits(limit) - decimalUnits(current);
  return unitsText(units > 0n ? units : 0n);
}
