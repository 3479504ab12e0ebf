import { findCustomerGrants, heldNow, type RequestedGrants } from '../../../domain/find-customer-grants.ts';
import { type CreditReading, rateOfOneMore } from '../../../domain/rules/credit-cover.ts';
import {
  decideEntitlement,
  type EntitlementFacts,
  type EntitlementQuestion,
  type MeterReading,
} from '../../../domain/rules/decide-entitlement.ts';
import { limitWindow } from '../../../domain/rules/limit-windows.ts';
import type { MeteredTerm } from '../../../domain/rules/metered-terms.ts';
import {
  type CustomerGrants,
  type EntitlementView,
  resolveEntitlements,
} from '../../../domain/rules/resolve-entitlements.ts';
import { findWallets } from '../../../domain/store/credit-wallets.ts';
import { readMeteredTerms, termsByMeter } from '../../../domain/store/metered-terms.ts';
import type { Warehouse } from '../../../infra/ports/warehouse.ts';
import type { EntitlementDecision } from '../../../schemas/resources/entitlements.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { type CounterQuestion, readCountersInOrder } from '../../store/read-counter.ts';
import { findRequestedFeatures, type RequestedFeatureRow } from '../../store/requested-features.ts';
import { readConsistently } from '../../usage/consistency.ts';
import type { Freshness } from '../../usage/freshness.ts';
import { beginReadTime } from '../../usage/read-time.ts';
import type { CustomerGrantsReads } from '../cache/customer-grants-reads.ts';
import { resetOf } from './prepare-decision.ts';

export interface EntitlementDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  customerGrantsReads: CustomerGrantsReads;
}

/** The questions about one customer. */
export interface EntitlementChecks {
  /** Its id or external id. */
  customer: string;
  features: RequestedFeature[];
  consistency: 'eventual' | 'strong';
}

export interface RequestedFeature {
  /** Its key or id. */
  featureKey: string;
  /** Canonical decimal text. */
  requested: string | undefined;
}

/**
 * One decision per question, in their order. Throws Transient while counters that it needs cannot be read.
 */
export type CheckEntitlements = (
  context: RequestContext,
  checks: EntitlementChecks,
) => Promise<EntitlementDecision[]>;

export function createCheckEntitlements(readFacts: ReadFacts): CheckEntitlements {
  return async (context, checks) => {
    const facts = await readFacts(context, checks);
    return facts.map((one) => decideEntitlement(one.question, one.facts));
  };
}

/** The questions by the names that responses have, each with what decides it. Throws as checks do. */
export type ReadFacts = (
  context: RequestContext,
  checks: EntitlementChecks,
) => Promise<Array<{ question: EntitlementQuestion; facts: EntitlementFacts }>>;

export function createReadFacts(deps: EntitlementDeps): ReadFacts {
  return async (context, { customer, features, consistency }) => {
    const { environment, nowMs } = context;
    const names = [...new Set(features.map(({ featureKey }) => featureKey))];
    const rows = await findRequestedFeatures(context.db, environment, names);
    const question = { environment, customer, atMs: nowMs, ...grantsOf(rows) };
    const { found, terms } = await deps.customerGrantsReads(context, async (db) => {
      const withGrants = await findCustomerGrants(db, question);
      const requested = withGrants ? termsRequested(withGrants.customerId, question) : [];
      return { found: withGrants, terms: termsByMeter(await readMeteredTerms(db, requested)) };
    });
    const customerGrants = found ? heldNow(found) : NOTHING;
    const view = resolveEntitlements(customerGrants, nowMs);
    const questions = questionsOf(rows, { terms, view, nowMs });
    const owner = { environment, customerId: found?.customerId ?? '' };
    const readings = await readMeters(deps, { owner, questions, consistency });
    const credits = await readCredits(
      context,
      owner.customerId,
      rows.filter(({ key }) => view.features.has(key)),
    );
    const byName = new Map(rows.flatMap((row) => [[row.key, row] as const, [row.id, row] as const]));
    return features.map(({ featureKey, requested }) => {
      const feature = byName.get(featureKey);
      return {
        question: {
          customerId: found?.customerId ?? customer,
          featureKey: feature?.key ?? featureKey,
          requested,
        },
        facts: {
          customer: found ? (found.isArchived ? 'archived' : 'active') : 'unknown',
          featureType: feature?.type,
          view,
          counter: readings.get(feature?.key ?? ''),
          credit: credits.get(feature?.key ?? ''),
        },
      };
    });
  };
}

/** Together with other features on the same meters. */
function grantsOf(rows: RequestedFeatureRow[]): RequestedGrants {
  const meterKeys = new Set(rows.flatMap(({ meterKey }) => (meterKey === null ? [] : [meterKey])));
  return { featureIds: rows.map(({ id }) => id), meterKeys: [...meterKeys] };
}

function termsRequested(
  customerId: string,
  { environment, atMs, meterKeys }: { environment: string; atMs: number; meterKeys: string[] },
) {
  const from = new Date(atMs);
  return meterKeys.map((meterKey) => ({ environment, customerId, meterKey, from }));
}

const NOTHING: CustomerGrants = { graceMs: 0, subscriptions: [], overrides: [] };

/** The counter of a feature, in the window of its limit. */
interface FeatureQuestion extends CounterQuestion {
  featureKey: string;
  resetsAtMs: number | undefined;
}

/** The counters that decide, where the customer has the feature. */
function questionsOf(
  rows: RequestedFeatureRow[],
  { terms, view, nowMs }: { terms: Map<string, MeteredTerm[]>; view: EntitlementView; nowMs: number },
): FeatureQuestion[] {
  return rows.flatMap(({ key, meterKey, aggregation }): FeatureQuestion[] => {
    const held = view.features.get(key);
    if (meterKey === null || aggregation === null || !held) return [];
    const span = limitWindow(terms.get(meterKey) ?? [], held.resets ?? 'billing_period', nowMs);
    return [{ featureKey: key, meterKey, aggregation, span, resetsAtMs: resetOf(held, span) }];
  });
}

interface MetersQuestion {
  owner: { environment: string; customerId: string };
  questions: FeatureQuestion[];
  consistency: EntitlementChecks['consistency'];
}

/** By feature key. Without questions the warehouse is not read. */
async function readMeters(
  { warehouse, freshness }: EntitlementDeps,
  { owner, questions, consistency }: MetersQuestion,
): Promise<Map<string, MeterReading>> {
  if (questions.length === 0) return new Map();
  const time = beginReadTime(consistency);
  return readConsistently(
    freshness,
    { consistency, time, environment: owner.environment },
    async (asOfMs, view) => {
      const limits = { timeoutMs: time.leftMs() };
      const counters = await readCountersInOrder({ warehouse, view }, owner, questions, limits);
      return new Map(
        questions.map(({ featureKey, resetsAtMs }, at) => {
          return [featureKey, { current: counters[at] ?? '0', resetsAtMs, asOfMs }] as const;
        }),
      );
    },
  );
}

/** By key, for features whose meter has a rate: the credits that can pay for usage. */
async function readCredits(
  { db, environment, nowMs }: RequestContext,
  customerId: string,
  granted: RequestedFeatureRow[],
): Promise<Map<string, CreditReading>> {
  const rated = granted.flatMap((row) => {
    const rate = rateOfOneMore(row);
    return rate === undefined ? [] : [[row.key, rate] as const];
  });
  if (rated.length === 0) return new Map();
  const [wallet] = await findWallets(db, [{ environment, customerId }], new Date(nowMs));
  const { balance, unpaid } = wallet ?? { balance: '0', unpaid: '0' };
  return new Map(rated.map(([key, rate]) => [key, { balance, unpaid, rate }]));
}
