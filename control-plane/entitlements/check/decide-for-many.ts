import {
  type CustomerWithGrants,
  findManyCustomerGrants,
  heldNow,
} from '../../../domain/find-customer-grants.ts';
import { rateOfOneMore } from '../../../domain/rules/credit-cover.ts';
import { decideEntitlement, type EntitlementFacts } from '../../../domain/rules/decide-entitlement.ts';
import { limitWindow } from '../../../domain/rules/limit-windows.ts';
import { type EntitlementView, resolveEntitlements } from '../../../domain/rules/resolve-entitlements.ts';
import { findWallets, type WalletState } from '../../../domain/store/credit-wallets.ts';
import { readTermsOfCustomers, type TermOfCustomer } from '../../../domain/store/metered-terms.ts';
import { parseExact } from '../../../schemas/primitives/exact-json.ts';
import { groupBy } from '../../../schemas/primitives/group-by.ts';
import type { EntitlementDecision } from '../../../schemas/resources/entitlements.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { readGrantCounts } from '../../store/grant-versions.ts';
import { findRequestedFeatures, type RequestedFeatureRow } from '../../store/requested-features.ts';
import type { CounterCache } from '../cache/counter-cache.ts';
import type { CounterPlace, CounterReading } from '../cache/counter-store.ts';
import type { CustomerGrantsReads } from '../cache/customer-grants-reads.ts';
import { GRANTS_MAX } from '../cache/read-customer.ts';
import type { CachedChecks } from './cached-checks.ts';
import { listEntitlements } from './list-entitlements.ts';
import { resetOf } from './prepare-decision.ts';

export interface DecisionsQuestion {
  /** Its id. */
  customerId: string;
  /** Keys or ids; undefined: every feature that a subscription or an override of the customer names. */
  featureKeys: readonly string[] | undefined;
}

export interface DecideDeps {
  customerGrantsReads: CustomerGrantsReads;
  counters: CounterCache;
  checks: CachedChecks;
}

/**
 * The decisions of check-entitlements.ts for many customers: their grants in one statement, and each meter
 * for all of them in one. A customer with too many grants is read by itself. One list per question, in their
 * order; empty for a customer that is unknown.
 */
export async function decideForMany(
  deps: DecideDeps,
  context: RequestContext,
  questions: readonly DecisionsQuestion[],
): Promise<EntitlementDecision[][]> {
  const customers = await readHolders(deps, context, [...new Set(questions.map((one) => one.customerId))]);
  const asked = questions.map((question) => namedOf(question, customers.get(question.customerId)));
  const names = [...new Set(asked.flatMap(({ names }) => names))];
  const features = await featuresByName(context, names);
  const readings = await readPlaces(deps.counters, asked, { context, features });
  return Promise.all(
    asked.map(async ({ question, holder, names }) => {
      if (!holder) return decideAlone(deps, context, question);
      return names.map((name) => decide({ holder, name, feature: features.get(name), readings }));
    }),
  );
}

/** A customer whose grants are few enough to be read with those of others. */
interface Holder {
  customer: CustomerWithGrants;
  view: EntitlementView;
  terms: readonly TermOfCustomer[];
  wallet: Pick<WalletState, 'balance' | 'unpaid'>;
}

interface Asked {
  question: DecisionsQuestion;
  holder: Holder | undefined;
  names: readonly string[];
}

/** By id, all in one snapshot. */
function readHolders(
  { customerGrantsReads }: DecideDeps,
  context: RequestContext,
  customerIds: readonly string[],
): Promise<Map<string, Holder>> {
  const { environment, nowMs } = context;
  const now = new Date(nowMs);
  return customerGrantsReads(context, async (db) => {
    const counted = await readGrantCounts(db, environment, { customerIds, grantsMax: GRANTS_MAX });
    const few = counted.filter(({ grants }) => grants <= GRANTS_MAX).map(({ customerId }) => customerId);
    if (few.length === 0) return new Map();
    const wanted = { environment, customerIds: few, atMs: nowMs, featureIds: 'all' as const, meterKeys: [] };
    const found = await findManyCustomerGrants(db, wanted);
    const since = few.map((customerId) => ({ customerId, from: now }));
    const terms = groupBy(await readTermsOfCustomers(db, environment, since), (one) => one.customerId);
    const places = few.map((customerId) => ({ environment, customerId }));
    const wallets = new Map((await findWallets(db, places, now)).map((one) => [one.customerId, one]));
    return new Map(
      [...found].map(([id, customer]) => {
        const view = resolveEntitlements(heldNow(customer), nowMs);
        const wallet = wallets.get(id) ?? NO_CREDITS;
        return [id, { customer, view, terms: terms.get(id) ?? [], wallet }] as const;
      }),
    );
  });
}

const NO_CREDITS = { balance: '0', unpaid: '0' };

function namedOf(question: DecisionsQuestion, holder: Holder | undefined): Asked {
  if (!holder) return { question, holder, names: [] };
  const { features, withheld } = holder.view;
  const held = () => [...new Set([...features.keys(), ...withheld.keys()])].sort();
  return { question, holder, names: question.featureKeys ?? held() };
}

async function featuresByName(
  { db, environment }: RequestContext,
  names: string[],
): Promise<Map<string, RequestedFeatureRow>> {
  const rows = names.length === 0 ? [] : await findRequestedFeatures(db, environment, names);
  return new Map(rows.flatMap((row) => [[row.key, row] as const, [row.id, row] as const]));
}

/** By customer and feature. Each counter by itself: the cache reads one meter of many customers together. */
async function readPlaces(
  counters: CounterCache,
  asked: readonly Asked[],
  { context, features }: { context: RequestContext; features: ReadonlyMap<string, RequestedFeatureRow> },
): Promise<Map<string, PlacedReading>> {
  const places = new Map<string, CounterPlace>();
  for (const { holder, names } of asked) {
    for (const name of holder ? names : []) {
      const feature = features.get(name);
      const place = holder && feature && placeOf(holder, feature, context);
      if (place) places.set(nameOf(place.customerId, feature), place);
    }
  }
  const reads = [...places].map(async ([name, place]) => {
    const [reading] = await counters.read([place]);
    return [name, { ...(reading as CounterReading), place }] as const;
  });
  return new Map(await Promise.all(reads));
}

type PlacedReading = CounterReading & { place: CounterPlace };

function placeOf(
  { customer: { customerId }, view, terms }: Holder,
  { key, meterKey, aggregation }: RequestedFeatureRow,
  { environment, nowMs }: Pick<RequestContext, 'environment' | 'nowMs'>,
): CounterPlace | undefined {
  const held = view.features.get(key);
  if (meterKey === null || aggregation === null || !held) return undefined;
  const own = terms.filter((term) => term.meterKey === meterKey);
  const span = limitWindow(own, held.resets ?? 'billing_period', nowMs);
  return { environment, customerId, meterKey, aggregation, span };
}

/** Limits of one meter may have different windows. */
function nameOf(customerId: string, { key }: RequestedFeatureRow): string {
  return `${customerId} ${key}`;
}

function decide({
  holder,
  name,
  feature,
  readings,
}: {
  holder: Holder;
  name: string;
  feature: RequestedFeatureRow | undefined;
  readings: ReadonlyMap<string, PlacedReading>;
}): EntitlementDecision {
  const { customer, view, wallet } = holder;
  const { customerId, isArchived } = customer;
  const facts: EntitlementFacts = {
    customer: isArchived ? 'archived' : 'active',
    featureType: feature?.type,
    view,
  };
  const question = { customerId, featureKey: feature?.key ?? name };
  const held = feature && view.features.get(feature.key);
  if (!held) return decideEntitlement(question, facts);
  const reading = readings.get(nameOf(customerId, feature));
  const rate = rateOfOneMore(feature);
  return decideEntitlement(question, {
    ...facts,
    counter: reading && { ...reading, resetsAtMs: resetOf(held, reading.place.span) },
    credit: rate === undefined ? undefined : { ...wallet, rate },
  });
}

/** Of a customer with many grants, or none that is known. */
async function decideAlone(
  { customerGrantsReads, checks }: DecideDeps,
  context: RequestContext,
  { customerId, featureKeys }: DecisionsQuestion,
): Promise<EntitlementDecision[]> {
  const keys = featureKeys ?? (await listEntitlements(context, customerGrantsReads, customerId))?.map(keyOf);
  if (!keys || keys.length === 0) return [];
  const features = keys.map((featureKey) => ({ featureKey, requested: undefined }));
  const decisions = await checks.decide(context, { customer: customerId, features, consistency: 'eventual' });
  return decisions.map((text) => parseExact(text) as EntitlementDecision);
}

function keyOf({ featureKey }: { featureKey: string }): string {
  return featureKey;
}
