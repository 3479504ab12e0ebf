import type { EntitlementDecision } from '../generated/schemas.ts';
import { CREDIT_DIGITS, unitsOf } from '../meter/exact-decimal.ts';
import type { MeterName } from '../meter/own-usage.ts';

/** What the feed says of one customer. Amounts are whole numbers of 10^-12. */
export interface FedCustomer {
  customerId: string;
  /** Why a feature that it does not have is denied. */
  otherwise: EntitlementDecision['reasonCode'];
  /** Its credits less what is unpaid, in units of 10^-24. */
  available: bigint;
  features: ReadonlyMap<string, FedFeature>;
}

/** A feature of a customer: what a check without an amount returns, and what else decides. */
export interface FedFeature {
  /** Numbers that would lose digits are texts in it. */
  decision: EntitlementDecision;
  /** Null: unlimited. Undefined: it is not decided by an amount. */
  limit: bigint | null | undefined;
  /** Counted; 0 of a feature without a meter. */
  current: bigint;
  /** Everything that was acknowledged before is in it: milliseconds since 1970, of the server's clock. */
  countedToMs: number;
  meter: MeterName | undefined;
  isSoft: boolean;
  /** Credits for one more unit; undefined where usage costs nothing. */
  creditRate: bigint | undefined;
}

/** The data of a `customer` event. */
export interface CustomerMessage {
  customerId?: string;
  asked: string;
  status: string;
  otherwise?: EntitlementDecision['reasonCode'];
  credits?: { balance: number | string; unpaid: number | string };
  features: Array<{
    decision: EntitlementDecision;
    meterId?: string;
    aggregation?: string;
    soft?: boolean;
    creditRate?: number | string;
  }>;
}

/** The data of a `usage` event. */
export interface UsageMessage {
  asked: string;
  decisions: EntitlementDecision[];
}

/** Undefined where the server has to be asked. Throws a TypeError for what cannot be read. */
export function fedCustomer(message: CustomerMessage): FedCustomer | undefined {
  const { customerId, status, otherwise, credits, features } = message;
  if (status !== 'active' && status !== 'archived') return undefined;
  if (customerId === undefined || otherwise === undefined || !credits) throw new TypeError('a customer');
  const available = amount(credits.balance, CREDIT_DIGITS) - amount(credits.unpaid, CREDIT_DIGITS);
  const fed = features.map(({ decision, meterId, aggregation, soft = false, creditRate }) => {
    const rate = creditRate === undefined ? undefined : amount(creditRate);
    const meter = meterId === undefined ? undefined : { meterId, aggregation };
    const feature = { ...countOf(decision), meter, isSoft: soft, creditRate: rate };
    return [decision.featureKey, feature] as const;
  });
  return { customerId, otherwise, available, features: new Map(fed) };
}

/** With the counts that have changed. */
export function withUsage(customer: FedCustomer, { decisions }: UsageMessage): FedCustomer {
  const features = new Map(customer.features);
  for (const decision of decisions) {
    const known = features.get(decision.featureKey);
    if (known) features.set(decision.featureKey, { ...known, ...countOf(decision) });
  }
  return { ...customer, features };
}

function countOf(
  decision: EntitlementDecision,
): Pick<FedFeature, 'decision' | 'limit' | 'current' | 'countedToMs'> {
  const { type, effectiveValue, current = 0, asOf } = decision;
  const isAmount = type === 'limit' || type === 'metered';
  const isDecided = isAmount && effectiveValue !== undefined && typeof effectiveValue !== 'boolean';
  const limit = isDecided ? (effectiveValue === null ? null : amount(effectiveValue)) : undefined;
  const countedToMs = timeMs(asOf) ?? Number.NEGATIVE_INFINITY;
  return { decision, limit, current: amount(current), countedToMs };
}

/** Undefined for what is no time. */
export function timeMs(text: string | undefined): number | undefined {
  const milliseconds = Date.parse(text ?? '');
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

function amount(value: number | string, digits?: number): bigint {
  const units = unitsOf(value, digits);
  if (units === undefined) throw new TypeError(`${value} is not an amount`);
  return units;
}
