import type { EntitlementDecision } from '../generated/schemas.ts';
import { numberOfUnits, textOfUnits } from '../meter/exact-decimal.ts';
import type { FedCustomer, FedFeature } from './fed-customer.ts';

type ReasonCode = EntitlementDecision['reasonCode'];
type Verdict = [allowed: boolean, code: ReasonCode];

/** Of a decision that holds whatever is asked for. */
const OF_ITS_OWN: ReadonlySet<ReasonCode> = new Set(['granted_by_override', 'granted_grace_period']);
const ONE = 10n ** 12n;

export interface Wanted {
  /** Undefined: 1 of a metered feature, else 0. */
  requested: bigint | undefined;
  /** Usage that the count does not have yet. */
  own: bigint;
  /** Credits that such usage of other meters costs, in units of 10^-24. */
  owed: bigint;
}

/** Decides as the server would from the same numbers. Amounts are whole numbers of 10^-12. */
export function decideHere(customer: FedCustomer, feature: FedFeature, wanted: Wanted): EntitlementDecision {
  const { decision, limit } = feature;
  if (limit === undefined) return decision;
  const requested = wanted.requested ?? (decision.type === 'metered' ? ONE : 0n);
  const isAsSent = wanted.requested === undefined && wanted.own === 0n && wanted.owed === 0n;
  if (isAsSent) return { ...decision, ...counted(feature, 0n) };
  const [allowed, reasonCode] = judge(customer, feature, { ...wanted, requested });
  const used = decision.type === 'metered' ? `${textOfUnits(feature.current + wanted.own)} used and ` : '';
  const usage = `${used}${textOfUnits(requested)} requested`;
  const reason = `${usage}, ${boundOf(feature, reasonCode)}.`;
  const sources = sourcesOf(decision, reasonCode);
  return { ...decision, allowed, reasonCode, reason, sources, ...counted(feature, wanted.own) };
}

/** Credits are one where they pay. */
function sourcesOf({ sources = [] }: EntitlementDecision, code: ReasonCode): string[] {
  const held = sources.filter((source) => source !== 'credit');
  return code === 'granted_by_credit' ? [...held, 'credit'] : held;
}

/** What it has, in words, behind what is asked for. */
function boundOf({ decision, limit }: FedFeature, code: ReasonCode): string {
  if (limit === null || limit === undefined) return `and ${decision.featureKey} is unlimited`;
  const isBeyond = BEYOND.has(code);
  return `${isBeyond ? 'beyond' : 'within'} the limit of ${textOfUnits(limit)} for ${decision.featureKey}`;
}

const BEYOND: ReadonlySet<ReasonCode> = new Set([
  'granted_soft_limit_exceeded',
  'granted_by_credit',
  'limit_reached',
  'insufficient_credit',
  'override_denied',
]);

function judge(
  { available }: FedCustomer,
  { decision, limit, current, isSoft, creditRate }: FedFeature,
  { requested, own, owed }: Wanted & { requested: bigint },
): Verdict {
  const isOverride = decision.sources?.includes('override') === true;
  const ofItsOwn = OF_ITS_OWN.has(decision.reasonCode) ? decision.reasonCode : undefined;
  const always = ofItsOwn ?? (isOverride ? 'granted_by_override' : undefined);
  if (limit === null || limit === undefined) return [true, always ?? 'granted_unlimited'];
  const wanted = current + own + requested;
  if (wanted <= limit) return [true, always ?? 'granted'];
  if (isSoft) return [true, 'granted_soft_limit_exceeded'];
  if (isOverride && limit === 0n) return [false, 'override_denied'];
  if (creditRate === undefined) return [false, 'limit_reached'];
  // What was counted is paid or owed already.
  const cost = (wanted - larger(current, limit)) * creditRate;
  const left = available - owed;
  const reaches = left > 0n && cost <= left;
  return reaches ? [true, 'granted_by_credit'] : [false, 'insufficient_credit'];
}

/**
 * What usage of other meters that is not counted yet costs of the credits that pay for this feature too, in
 * units of 10^-24. Of each meter the largest limit of its features counts.
 */
export function owedByOthers(
  { features }: FedCustomer,
  { meter }: FedFeature,
  ownOf: (feature: FedFeature) => bigint,
): bigint {
  const largest = new Map<string, FedFeature>();
  for (const one of features.values()) {
    const { meterId } = one.meter ?? {};
    if (meterId === undefined || meterId === meter?.meterId || one.creditRate === undefined) continue;
    const other = largest.get(meterId);
    if (!other || isLarger(one.limit, other.limit)) largest.set(meterId, one);
  }
  let owed = 0n;
  for (const one of largest.values()) {
    const { limit, current, creditRate = 0n } = one;
    if (limit === null) continue;
    const beyond = current + ownOf(one) - larger(current, limit ?? 0n);
    if (beyond > 0n) owed += beyond * creditRate;
  }
  return owed;
}

/** Of limits: null is unlimited. */
function isLarger(one: FedFeature['limit'], other: FedFeature['limit']): boolean {
  return other !== null && (one === null || (one ?? 0n) > (other ?? 0n));
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** As numbers, with the own usage. */
function counted({ decision, limit, current }: FedFeature, own: bigint): Partial<EntitlementDecision> {
  if (decision.current === undefined) return numbered(limit);
  const used = current + own;
  if (typeof limit !== 'bigint') return { current: numberOfUnits(used) };
  const remaining = numberOfUnits(used < limit ? limit - used : 0n);
  return { current: numberOfUnits(used), remaining, ...numbered(limit) };
}

function numbered(limit: bigint | null | undefined): Partial<EntitlementDecision> {
  return typeof limit === 'bigint'
    ? { limit: numberOfUnits(limit), effectiveValue: numberOfUnits(limit) }
    : {};
}
