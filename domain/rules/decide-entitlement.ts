import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { DeniedCode, GrantedCode } from '../../schemas/reason-codes.ts';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import { type CreditReading, coverOf } from './credit-cover.ts';
import type { EffectiveEntitlement, EntitlementView, Suspension } from './resolve-entitlements.ts';

export interface EntitlementQuestion {
  /** As the response names them: by id and key where they exist. */
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
  /** Of a metered feature whose meter has a credit rate. */
  credit?: CreditReading | undefined;
}

/** The value of the linked meter in the current period. */
export interface MeterReading {
  /** Canonical decimal text; below 0 after corrections. */
  current: string;
  /** Undefined: never. */
  resetsAtMs: number | undefined;
  /** Everything acknowledged before this time is counted. */
  asOfMs: number;
}

/** The response to one question. */
export function decideEntitlement(
  question: EntitlementQuestion,
  facts: EntitlementFacts,
): EntitlementDecision {
  const { customerId, featureKey } = question;
  const { customer, featureType, view, counter, credit } = facts;
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
  const isWithheld = held?.value === false && !held.isOverride && view.withheld.has(featureKey);
  if (!held || isWithheld) {
    return { ...denied(typed, ...whyNotHeld(featureKey, view)), sources: [] };
  }
  const verdict =
    held.type === 'boolean' ? judgeFlag(featureKey, held) : judgeAmount(question, held, { counter, credit });
  const sources = verdict.reasonCode === 'granted_by_credit' ? [...held.sources, 'credit'] : held.sources;
  const { asOf, ...counted } = shownCounter(held, counter);
  // Last what stays the same from one counter to the next, but for `asOf`: it is printed once.
  const made = held.contributions && { contributions: held.contributions };
  const time = asOf === undefined ? {} : { asOf };
  return { ...verdict, ...typed, sources, ...shownValue(held), ...counted, ...made, ...time };
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
  if (held.isOverride && held.value === false) return takenAway(`An override takes ${featureKey} away.`);
  const how = held.isOverride ? 'given by an override' : 'included';
  if (held.value === true) return granted(held, 'granted', `${featureKey} is ${how}`);
  const reason = `${featureKey} is not included in ${held.sources.join(', ')}.`;
  return { allowed: false, reasonCode: 'feature_not_included', reason };
}

function judgeAmount(
  { featureKey, requested }: EntitlementQuestion,
  held: EffectiveEntitlement,
  { counter, credit }: Pick<EntitlementFacts, 'counter' | 'credit'>,
): Verdict {
  if (held.type === 'metered' && !counter) throw new TypeError('a metered feature is decided by its counter');
  const amount = requested ?? (counter ? '1' : '0');
  const usage = `${counter ? `${counter.current} used and ` : ''}${amount} requested`;
  const cause = held.isOverride ? ' by an override' : '';
  if (held.value === null) {
    return granted(held, 'granted_unlimited', `${usage}, and ${featureKey} is unlimited${cause}`);
  }
  const limit = String(held.value);
  const ofLimit = `limit of ${limit} for ${featureKey}${cause}`;
  const used = decimalUnits(counter?.current ?? '0');
  const wanted = used + decimalUnits(amount);
  if (wanted <= decimalUnits(limit)) return granted(held, 'granted', `${usage}, within the ${ofLimit}`);
  if (held.soft) {
    return granted(held, 'granted_soft_limit_exceeded', `${usage}, beyond the soft ${ofLimit}`);
  }
  if (held.isOverride && limit === '0') {
    return takenAway(`${usage}, and an override takes ${featureKey} away.`);
  }
  const beyond = `${usage}, beyond the ${ofLimit}`;
  const resetsAtMs = counter?.resetsAtMs;
  const reset = resetsAtMs === undefined ? '' : `; it resets at ${timestampText(resetsAtMs)}`;
  if (!credit) return { allowed: false, reasonCode: 'limit_reached', reason: `${beyond}${reset}.` };
  // Earlier usage is paid already, or is part of what is unpaid.
  const more = wanted - larger(used, decimalUnits(limit));
  const { cost, available, reaches } = coverOf(credit, more);
  const there = available.startsWith('-') ? `${available.slice(1)} are unpaid` : `${available} are left`;
  const price = `${unitsText(more)} more cost ${cost} credits, and ${there}`;
  if (reaches) return granted(held, 'granted_by_credit', `${beyond}: ${price}`);
  return { allowed: false, reasonCode: 'insufficient_credit', reason: `${beyond}: ${price}${reset}.` };
}

function takenAway(reason: string): Verdict {
  return { allowed: false, reasonCode: 'override_denied', reason };
}

/** Codes for how a passed limit was exceeded. */
const PASSES_LIMIT: ReadonlySet<GrantedCode> = new Set(['granted_soft_limit_exceeded', 'granted_by_credit']);

/** The reason names an overdue payment or an override, unless it names an exceeded limit. */
function granted(
  { graceEndsMs, isOverride }: EffectiveEntitlement,
  code: GrantedCode,
  reason: string,
): Verdict {
  const inGrace = graceEndsMs !== undefined;
  const ofItsOwn = isOverride ? 'granted_by_override' : inGrace ? 'granted_grace_period' : code;
  return {
    allowed: true,
    reasonCode: PASSES_LIMIT.has(code) ? code : ofItsOwn,
    reason: inGrace
      ? `${reason}; payment is overdue, and grace ends at ${timestampText(graceEndsMs)}.`
      : `${reason}.`,
  };
}

function shownValue({ type, value, resets }: EffectiveEntitlement): Partial<EntitlementDecision> {
  const effectiveValue = shownEffectiveValue(value);
  if (type === 'boolean' || value === null) return { effectiveValue };
  return { effectiveValue, ...(resets ? { resets } : {}), limit: exactNumber(String(value)) };
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
    ...(resetsAtMs === undefined ? {} : { resetsAt: timestampText(resetsAtMs) }),
    asOf: timestampText(asOfMs),
  };
}

function remainingOf(limit: string, current: string): string {
  const units = decimalUnits(limit) - decimalUnits(current);
  return unitsText(units > 0n ? units : 0n);
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
