import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { Contribution } from '../../schemas/resources/entitlements.ts';
import type { Resets, SubscriptionStatus } from '../../schemas/value-sets.ts';
import type { BillingCycle, SubscriptionTerm } from './billing-period.ts';
import { contributionsTo, type SourceGrant, wholeContribution } from './contributions.ts';
import { longestOf } from './limit-windows.ts';

/** What a customer holds, as it is stored. */
export interface CustomerGrants {
  /** How long a subscription that is past due still counts. */
  graceMs: number;
  /** Oldest first. */
  subscriptions: HeldSubscription[];
  /** At most one of a feature. */
  overrides: HeldOverride[];
}

/** Replaces everything that subscriptions give of a feature, until it expires. */
export interface HeldOverride extends Pick<Grant, 'featureKey' | 'type' | 'meterKey'> {
  /** true or false for a boolean feature, else plain decimal text; null is unlimited. */
  value: boolean | string | null;
  /** Of a metered feature; null: as subscriptions say. */
  resets?: Resets | null;
  /** Null: never. */
  expiresAtMs: number | null;
}

export interface HeldSubscription {
  status: SubscriptionStatus;
  statusSinceMs: number;
  createdAtMs: number;
  /** Where the status is `canceled`. */
  canceledAtMs: number | null;
  /** When it began, or begins: until then it counts for nothing. */
  startsAtMs: number;
  cycle: BillingCycle;
  /** Of the period that is recorded, see {@link SubscriptionTerm}. */
  periodStartMs: number;
  periodEndMs: number;
  /** Of its plan, in the version that it has, then of its add-ons. */
  grants: Grant[];
}

/** What one plan or add-on gives of one feature. */
export interface Grant extends SourceGrant {
  featureKey: string;
  type: FeatureType;
  meterKey: string | null;
  /** `plan:<key>` or `addon:<key>`. */
  source: string;
  /** How often an add-on is attached; 1 for a plan. */
  quantity: number;
  soft: boolean;
  /** Of a metered feature; null: not said. */
  resets?: Resets | null;
}

/** What holds for a customer at a given time. */
export interface EntitlementView {
  /** By key. */
  features: ReadonlyMap<string, EffectiveEntitlement>;
  /** Features that a subscription would give if it counted. */
  withheld: ReadonlyMap<string, Suspension>;
  /** Of the customer: whether any subscription counts, else what is in the way of one. */
  standing: 'counts' | Suspension | 'none';
}

export type Suspension = 'past_due' | 'paused';

export interface EffectiveEntitlement {
  type: FeatureType;
  meterKey: string | null;
  /** true or false for a boolean feature, else a canonical decimal; null is unlimited. */
  value: boolean | string | null;
  soft: boolean;
  /** Of a metered feature; undefined: with the billing period. */
  resets?: Resets | undefined;
  /** Where the value comes from: a boolean's are those with the same value. */
  sources: string[];
  /** As the API shows them, made once for all responses. Undefined: too many. */
  contributions: Contribution[] | undefined;
  /** It replaces what subscriptions give, and sets neither soft nor grace. */
  isOverride: boolean;
  /** Set where it is held through subscriptions in grace only: when the last of them stops to count. */
  graceEndsMs: number | undefined;
}

/**
 * Combines over all subscriptions that count: booleans by OR, limits by their sum with add-ons × quantity,
 * and unlimited wins. Limits that reset at different times are added up for the longest. An override that has
 * not expired replaces the result, also where there is none.
 */
export function resolveEntitlements(
  { graceMs, subscriptions, overrides }: CustomerGrants,
  nowMs: number,
): EntitlementView {
  const counted = new Map<string, CountedGrant[]>();
  const withheld = new Map<string, Suspension>();
  const standings = new Set<Standing>();
  for (const subscription of subscriptions) {
    const standing = standingOf(subscription, graceMs, nowMs);
    standings.add(standing);
    const graceEndsMs = standing === 'in_grace' ? subscription.statusSinceMs + graceMs : undefined;
    for (const grant of subscription.grants) {
      if (isCounting(standing)) putUnder(counted, { ...grant, graceEndsMs });
      else if (standing !== 'none' && grant.enabled !== false) withhold(withheld, grant.featureKey, standing);
    }
  }
  const features = new Map([...counted].map(([key, grants]) => [key, combine(grants)]));
  for (const one of overrides) {
    if (isInForce(one, nowMs)) features.set(one.featureKey, inPlace(one, features.get(one.featureKey)));
  }
  return { features, withheld, standing: best(standings) };
}

/**
 * The first time after now at which the view changes although no grant changes: a subscription begins, an
 * override expires, a grace ends. Infinity when there is none.
 */
export function nextTurnMs({ graceMs, subscriptions, overrides }: CustomerGrants, nowMs: number): number {
  const starts = subscriptions.map(({ startsAtMs }) => startsAtMs);
  const graceEnds = subscriptions.flatMap(({ status, statusSinceMs }) =>
    status === 'past_due' ? [statusSinceMs + graceMs] : [],
  );
  const expiries = overrides.flatMap(({ expiresAtMs }) => (expiresAtMs === null ? [] : [expiresAtMs]));
  const turns = [...starts, ...graceEnds, ...expiries].filter((ms) => ms > nowMs);
  return turns.reduce((first, ms) => Math.min(first, ms), Number.POSITIVE_INFINITY);
}

/** Whether an override holds now: up to, not at, its expiry. */
function isInForce({ expiresAtMs }: Pick<HeldOverride, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs === null || nowMs < expiresAtMs;
}

/** Whether a subscription counts now. */
export function counts(subscription: HeldSubscription, graceMs: number, nowMs: number): boolean {
  return isCounting(standingOf(subscription, graceMs, nowMs));
}

type Standing = 'counts' | 'in_grace' | Suspension | 'none';

type CountedGrant = Grant & { graceEndsMs: number | undefined };

function standingOf(
  { status, statusSinceMs, startsAtMs }: HeldSubscription,
  graceMs: number,
  nowMs: number,
): Standing {
  if (nowMs < startsAtMs) return 'none';
  if (status === 'active' || status === 'trialing') return 'counts';
  if (status === 'past_due') return nowMs < statusSinceMs + graceMs ? 'in_grace' : 'past_due';
  if (status === 'unpaid') return 'past_due';
  return status === 'paused' ? 'paused' : 'none';
}

function isCounting(standing: Standing): standing is 'counts' | 'in_grace' {
  return standing === 'counts' || standing === 'in_grace';
}

function best(standings: ReadonlySet<Standing>): EntitlementView['standing'] {
  if (standings.has('counts') || standings.has('in_grace')) return 'counts';
  if (standings.has('past_due')) return 'past_due';
  return standings.has('paused') ? 'paused' : 'none';
}

function putUnder(grants: Map<string, CountedGrant[]>, grant: CountedGrant): void {
  const same = grants.get(grant.featureKey);
  if (same) same.push(grant);
  else grants.set(grant.featureKey, [grant]);
}

/** An overdue payment is named before a pause. */
function withhold(withheld: Map<string, Suspension>, featureKey: string, suspension: Suspension): void {
  if (withheld.get(featureKey) !== 'past_due') withheld.set(featureKey, suspension);
}

/** At least one. */
function combine(grants: CountedGrant[]): EffectiveEntitlement {
  const { type, meterKey } = grants[0] as CountedGrant;
  const value = type === 'boolean' ? grants.some(({ enabled }) => enabled) : sumOf(grants);
  const giving = type === 'boolean' ? grants.filter(({ enabled }) => enabled === value) : grants;
  return {
    type,
    meterKey,
    value,
    soft: grants.some(({ soft }) => soft),
    resets: unlessUsual(longestOf(grants.map(({ resets = null }) => resets))),
    sources: [...new Set(giving.map(({ source }) => source))],
    contributions: contributionsTo(value, grants),
    isOverride: false,
    graceEndsMs: latestGrace(giving),
  };
}

function inPlace(
  { type, meterKey, value: given, resets }: HeldOverride,
  replaced: EffectiveEntitlement | undefined,
): EffectiveEntitlement {
  const value = typeof given === 'string' ? unitsText(decimalUnits(given)) : given;
  return {
    type,
    meterKey,
    value,
    soft: false,
    resets: unlessUsual(resets ?? replaced?.resets ?? null),
    sources: ['override'],
    contributions: wholeContribution('override', value),
    isOverride: true,
    graceEndsMs: undefined,
  };
}

function unlessUsual(resets: Resets | null): Resets | undefined {
  return resets === null || resets === 'billing_period' ? undefined : resets;
}

function sumOf(grants: CountedGrant[]): string | null {
  let units = 0n;
  for (const { amount, quantity } of grants) {
    if (amount === null) return null;
    units += decimalUnits(amount) * BigInt(quantity);
  }
  return unitsText(units);
}

function latestGrace(grants: CountedGrant[]): number | undefined {
  const ends = grants.map(({ graceEndsMs }) => graceEndsMs ?? Number.POSITIVE_INFINITY);
  const last = Math.max(...ends);
  return last === Number.POSITIVE_INFINITY ? undefined : last;
}
