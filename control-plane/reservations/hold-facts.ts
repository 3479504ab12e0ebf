import type { EntitlementFacts } from '../../domain/rules/decide-entitlement.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { CachedCustomer } from '../entitlements/cache/cached-customer.ts';
import { readCustomer } from '../entitlements/cache/read-customer.ts';
import { type CachedChecksDeps, readingNow } from '../entitlements/check/cached-checks.ts';
import type { ReadFacts } from '../entitlements/check/check-entitlements.ts';
import { factsOf, NOTHING, preparedOf } from '../entitlements/check/prepare-decision.ts';
import type { RequestContext } from '../http/request-context.ts';
import { findRequestedFeatures, type RequestedFeatureRow } from '../store/requested-features.ts';

/** What a hold is decided by, but for what is held. */
export interface HoldFacts {
  customerId: string;
  featureKey: string;
  /** Undefined: the customer has no such feature, and the decision is a denial. */
  meterKey: string | undefined;
  facts: EntitlementFacts;
}

export interface HoldFactsQuestion {
  /** Its id or external id. */
  customer: string;
  /** Its key or id. */
  featureKey: string;
  consistency: 'eventual' | 'strong';
}

/**
 * From the caches of checks; `strong`, and for a customer with too many grants, from the stores. Throws
 * Rejected `not_reservable`, and Transient while the counter cannot be read.
 */
export type ReadHoldFacts = (context: RequestContext, question: HoldFactsQuestion) => Promise<HoldFacts>;

export type HoldFactsDeps = Omit<CachedChecksDeps, 'checkEntitlements'> & { readFacts: ReadFacts };

export function createReadHoldFacts(deps: HoldFactsDeps): ReadHoldFacts {
  return async (context, question) => {
    const feature = await findFeature(deps, context, question.featureKey);
    if (feature) requireReservable(feature);
    if (question.consistency === 'strong') return fromStores(deps, context, question, feature);
    const customer = await findCustomer(deps, context, question.customer);
    if (customer && 'isLarge' in customer) return fromStores(deps, context, question, feature);
    return fromCaches(deps, context, { question, feature, customer });
  };
}

async function findFeature({ features }: HoldFactsDeps, { db, environment }: RequestContext, name: string) {
  const known = features.find(environment, name);
  if (known) return known;
  const read = await features.fill(environment, [name], (names) =>
    findRequestedFeatures(db, environment, names),
  );
  return read.get(name);
}

async function findCustomer(
  { customers, customerGrantsReads }: HoldFactsDeps,
  context: RequestContext,
  name: string,
) {
  const { environment, nowMs } = context;
  return (
    customers.find(environment, name, nowMs) ??
    (await customers.fill(environment, name, () => readCustomer({ context, customerGrantsReads }, name)))
  );
}

/** What is held of other aggregations than sums would not add up with what was used. */
function requireReservable({ key, type, aggregation }: RequestedFeatureRow): void {
  if (type === 'metered' && (aggregation === 'sum' || aggregation === 'count')) return;
  const is = type === 'metered' ? `counts a meter of \`${aggregation}\`` : `is of type \`${type}\``;
  throw new Rejected('not_reservable', `${key} ${is}; only metered sums and counts can be held.`, {
    param: 'featureKey',
  });
}

interface CachedQuestion {
  question: HoldFactsQuestion;
  feature: RequestedFeatureRow | undefined;
  customer: CachedCustomer | undefined;
}

async function fromCaches(
  { counters }: HoldFactsDeps,
  { nowMs }: RequestContext,
  { question, feature, customer }: CachedQuestion,
): Promise<HoldFacts> {
  const unknown = {
    customerId: customer?.customerId ?? question.customer,
    featureKey: feature?.key ?? question.featureKey,
    meterKey: undefined,
  };
  if (!customer || !feature) {
    const state = customer ? (customer.isArchived ? 'archived' : 'active') : 'unknown';
    return { ...unknown, facts: { customer: state, featureType: feature?.type, view: NOTHING } };
  }
  const prepared = preparedOf(customer, feature, nowMs);
  const { place } = prepared;
  const [reading] = place ? [readingNow(counters, prepared) ?? (await counters.read([place]))[0]] : [];
  return { ...unknown, meterKey: place?.meterKey, facts: factsOf(customer, feature, { prepared, reading }) };
}

async function fromStores(
  { readFacts }: HoldFactsDeps,
  context: RequestContext,
  { customer, featureKey, consistency }: HoldFactsQuestion,
  feature: RequestedFeatureRow | undefined,
): Promise<HoldFacts> {
  const features = [{ featureKey, requested: undefined }];
  const [read] = await readFacts(context, { customer, features, consistency });
  if (!read) throw new TypeError('a question has facts');
  const { question, facts } = read;
  const { customerId, featureKey: key } = question;
  return { customerId, featureKey: key, facts, meterKey: (facts.counter && feature?.meterKey) ?? undefined };
}
