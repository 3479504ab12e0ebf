import { Pool } from 'pg';
import { exactJson } from '../../../schemas/primitives/exact-json.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { findRequestedFeatures, type RequestedFeatureRow } from '../../store/requested-features.ts';
import type { CachedCustomer, Prepared } from '../cache/cached-customer.ts';
import type { CounterCache } from '../cache/counter-cache.ts';
import type { CounterPlace, CounterReading } from '../cache/counter-store.ts';
import type { CustomerCache } from '../cache/customer-cache.ts';
import type { CustomerGrantsReads } from '../cache/customer-grants-reads.ts';
import type { FeatureCache } from '../cache/feature-cache.ts';
import { readCustomer } from '../cache/read-customer.ts';
import type { CheckEntitlements, EntitlementChecks, RequestedFeature } from './check-entitlements.ts';
import { preparedOf, printDecision, printUnknown } from './prepare-decision.ts';

export interface CachedChecksDeps {
  customers: CustomerCache;
  features: FeatureCache;
  counters: CounterCache;
  customerGrantsReads: CustomerGrantsReads;
  /** From the stores. */
  checkEntitlements: CheckEntitlements;
}

/** The decisions of check-entitlements.ts as JSON. */
export interface CachedChecks {
  /** One decision, if the cache has all its data. */
  now(context: CheckContext, question: RequestedFeature & { customer: string }): string | undefined;
  /** One per question, in their order, if the cache has all their data. */
  allNow(context: CheckContext, checks: Omit<EntitlementChecks, 'consistency'>): string[] | undefined;
  /**
   * The same; entries missing from the cache are read and cached. For a customer with too many grants, with
   * `strong` consistency, and in a transaction the decisions come from the stores.
   */
  decide(context: RequestContext, checks: EntitlementChecks): string[] | Promise<string[]>;
}

type CheckContext = Pick<RequestContext, 'environment' | 'nowMs'>;

export function createCachedChecks(deps: CachedChecksDeps): CachedChecks {
  const { customers, features, counters } = deps;

  function now(
    { environment, nowMs }: CheckContext,
    { customer: name, featureKey, requested }: RequestedFeature & { customer: string },
  ): string | undefined {
    const customer = customers.find(environment, name, nowMs);
    const feature = features.find(environment, featureKey);
    if (!customer || 'isLarge' in customer || !feature) return undefined;
    const prepared = preparedOf(customer, feature, nowMs);
    const reading = readingNow(counters, prepared);
    if (prepared.place && !reading) return undefined;
    return printDecision(customer, feature, { prepared, requested, reading });
  }

  const allNow: CachedChecks['allNow'] = (context, { customer, features: questions }) => {
    const texts: string[] = [];
    for (const { featureKey, requested } of questions) {
      const text = now(context, { customer, featureKey, requested });
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts;
  };

  return {
    now,
    allNow,
    decide(context, checks) {
      const isForCache = checks.consistency === 'eventual' && context.db instanceof Pool;
      if (!isForCache) return fromStores(deps, context, checks);
      return allNow(context, checks) ?? readFirst(deps, context, checks);
    },
  };
}

/** What the counter of a prepared decision says; undefined: it has none, or has to be read. */
export function readingNow(counters: CounterCache, prepared: Prepared): CounterReading | undefined {
  const { place } = prepared;
  if (!place) return undefined;
  const reading = prepared.counter?.now();
  if (reading) return reading;
  prepared.counter = counters.find(place);
  return prepared.counter.now();
}

async function fromStores(
  { checkEntitlements }: CachedChecksDeps,
  context: RequestContext,
  checks: EntitlementChecks,
): Promise<string[]> {
  return (await checkEntitlements(context, checks)).map((decision) => exactJson(decision));
}

async function readFirst(
  deps: CachedChecksDeps,
  context: RequestContext,
  checks: EntitlementChecks,
): Promise<string[]> {
  const { customers, customerGrantsReads } = deps;
  const { environment, nowMs } = context;
  const found =
    customers.find(environment, checks.customer, nowMs) ??
    (await customers.fill(environment, checks.customer, () =>
      readCustomer({ context, customerGrantsReads }, checks.customer),
    ));
  if (found && 'isLarge' in found) return fromStores(deps, context, checks);
  const features = await knownFeatures(deps, context, checks.features);
  return found
    ? decideAll(deps, { customer: found, features, checks, nowMs })
    : checks.features.map(({ featureKey }) =>
        printUnknown({ customer: checks.customer, featureKey }, undefined, features.get(featureKey)),
      );
}

/** By the requested names. */
async function knownFeatures(
  { features }: CachedChecksDeps,
  { db, environment }: RequestContext,
  requested: RequestedFeature[],
): Promise<Map<string, RequestedFeatureRow>> {
  const known = new Map<string, RequestedFeatureRow>();
  const unknown: string[] = [];
  for (const { featureKey } of requested) {
    const feature = features.find(environment, featureKey);
    if (feature) known.set(featureKey, feature);
    else unknown.push(featureKey);
  }
  if (unknown.length === 0) return known;
  const read = await features.fill(environment, unknown, (names) =>
    findRequestedFeatures(db, environment, names),
  );
  return new Map([...read, ...known]);
}

interface Decisions {
  customer: CachedCustomer;
  features: Map<string, RequestedFeatureRow>;
  checks: EntitlementChecks;
  nowMs: number;
}

async function decideAll(
  { counters }: CachedChecksDeps,
  { customer, features, checks, nowMs }: Decisions,
): Promise<string[]> {
  const questions = checks.features.map(({ featureKey, requested }) => {
    const feature = features.get(featureKey);
    return { featureKey, requested, feature, prepared: feature && preparedOf(customer, feature, nowMs) };
  });
  const places = new Map(
    questions.flatMap(({ prepared }) =>
      prepared?.place && !readingNow(counters, prepared) ? [[placeName(prepared.place), prepared.place]] : [],
    ),
  );
  const read = await readPlaces(counters, [...places.values()]);
  return questions.map(({ featureKey, requested, feature, prepared }) => {
    if (!feature || !prepared) return printUnknown({ ...checks, featureKey }, customer, feature);
    const { place } = prepared;
    const reading = (place && read.get(placeName(place))) ?? readingNow(counters, prepared);
    return printDecision(customer, feature, { prepared, requested, reading });
  });
}

/** Of one customer. */
function placeName({ meterKey, span }: CounterPlace): string {
  return `${span.fromMs} ${span.toMs} ${meterKey}`;
}

/** By their names. */
async function readPlaces(
  counters: CounterCache,
  places: CounterPlace[],
): Promise<Map<string, CounterReading>> {
  if (places.length === 0) return new Map();
  const readings = await counters.read(places);
  return new Map(places.map((place, at) => [placeName(place), readings[at] as CounterReading]));
}
