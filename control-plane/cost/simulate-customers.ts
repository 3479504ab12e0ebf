import type { CustomerWithGrants } from '../../domain/find-customer-grants.ts';
import { moneyText } from '../../domain/rules/rating/money.ts';
import type { PricedTerm } from '../../domain/rules/rating/priced-spans.ts';
import { NO_CHANGES, readUsageViews } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { Database } from '../http/request-context.ts';
import { readByBound, readByValue, readTotals } from '../store/read-priced-usage.ts';
import type { SimulatedCustomerRow, SimulationRow } from '../store/simulations.ts';
import { listPaying } from '../store/subscription-terms.ts';
import { type RatedCost, rateSpans, totalsOf } from './cost-lines.ts';
import {
  type CostSpan,
  type CostSubject,
  costSpans,
  type PriceCatalogue,
  readPriceCatalogue,
} from './cost-span.ts';
import {
  featureKeysOf,
  meterKeysOf,
  readAggregations,
  readGrantsOf,
  unitsOf,
  valuesOf,
} from './metered-facts.ts';
import { termsOf } from './paying-subscriptions.ts';
import { type LimitInWindow, limitsOf, passedLimits, withGrants } from './simulated-limits.ts';
import { type MeteredFacts, readSpanUsage, type UsageReads } from './span-usage.ts';

export interface SimulationStores {
  db: Database;
  warehouse: Warehouse;
}

/** In place of the plan of each term. */
const SIMULATED_PLAN = 'simulated';
/** Of one chunk of customers. */
const SUBSCRIPTIONS_MAX = 10_000;
const SPANS_MAX = 100_000;
/** Of one statement. */
const QUESTIONS_MAX = 4_000;
const READ_MS = 30_000;

/**
 * What these customers pay and would pay in the simulation's time: a handful of statements, whatever their
 * number. Throws Transient, and Rejected for more than a chunk may have.
 */
export async function simulateCustomers(
  { db, warehouse }: SimulationStores,
  simulation: SimulationRow,
  customerIds: string[],
): Promise<SimulatedCustomerRow[]> {
  const { environment, startsAt } = simulation;
  const wanted = { customerIds, since: startsAt, limit: SUBSCRIPTIONS_MAX + 1 };
  const rows = await listPaying(db, environment, wanted);
  if (rows.length > SUBSCRIPTIONS_MAX) throw tooLarge();
  const span = { fromMs: startsAt.getTime(), toMs: simulation.endsAt.getTime() };
  const subjects = rows.map((row): CostSubject => {
    return { customerId: row.customerId, subscriptionId: row.id, terms: termsOf(row), span };
  });
  const catalogue = await readPriceCatalogue(
    db,
    environment,
    subjects.flatMap(({ terms }) => terms),
  );
  const spans = spansOf(simulation, subjects, catalogue);
  const facts = await readFacts(db, simulation, { customerIds, spans, subjects });
  const view = (await readUsageViews(db, [environment])).get(environment) ?? NO_CHANGES;
  const readOf = { warehouse, view, environment, connection: 'long', timeoutMs: READ_MS } as const;
  const reads: UsageReads = {
    totals: (questions) => inParts(questions, (some) => readTotals(readOf, some)),
    byValue: (questions) => readByValue(readOf, questions),
    byBound: (questions) => readByBound(readOf, questions),
  };
  const questions = facts.limits.map(({ question }) => question);
  const { usages, totals } = await readSpanUsage(reads, facts, { spans, questions });
  const beyond = passedLimits(facts.limits, totals);
  const costsOf = costsByCustomer(rateSpans(spans, usages));
  return customerIds.map((customerId) => ({
    customerId,
    totals: comparedTotals(costsOf.get(customerId) ?? []),
    beyond: beyond.get(customerId) ?? [],
  }));
}

/** As they are charged, and as they would be. */
function spansOf(
  { offer, createdAt }: SimulationRow,
  subjects: readonly CostSubject[],
  catalogue: PriceCatalogue,
): CostSpan[] {
  const simulated: PriceCatalogue = {
    sets: [...catalogue.sets, { ownerId: SIMULATED_PLAN, version: null, startsMs: 0, prices: offer.prices }],
    owners: new Map([...catalogue.owners, [SIMULATED_PLAN, { planKey: SIMULATED_PLAN }]]),
    isSimulated: true,
  };
  simulated.sets.sort((a, b) => a.startsMs - b.startsMs);
  const spans: CostSpan[] = [];
  const limits = { nowMs: createdAt.getTime(), spansMax: SPANS_MAX };
  for (const subject of subjects) {
    spans.push(...costSpans(subject, catalogue, limits));
    spans.push(...costSpans({ ...subject, terms: subject.terms.map(onSimulatedPlan) }, simulated, limits));
    if (spans.length > SPANS_MAX) throw tooLarge();
  }
  return spans;
}

function onSimulatedPlan(term: PricedTerm): PricedTerm {
  return { ...term, planId: SIMULATED_PLAN, planVersion: null };
}

/** Limits of each day have far more questions than prices. */
async function inParts<Question, Result>(
  questions: readonly Question[],
  read: (some: readonly Question[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < questions.length; at += QUESTIONS_MAX) {
    results.push(...(await read(questions.slice(at, at + QUESTIONS_MAX))));
  }
  return results;
}

interface Chunk {
  customerIds: string[];
  spans: readonly CostSpan[];
  subjects: readonly CostSubject[];
}

async function readFacts(
  db: Database,
  { environment, offer, createdAt }: SimulationRow,
  { customerIds, spans, subjects }: Chunk,
): Promise<MeteredFacts & { limits: LimitInWindow[] }> {
  const nowMs = createdAt.getTime();
  const prices = [...new Set(spans.map(({ price }) => price))];
  const grants = offer.grants ?? [];
  const meterKeys = [...prices.flatMap(meterKeysOf), ...grants.flatMap(({ meterKey }) => meterKey ?? [])];
  const aggregations = await readAggregations(db, environment, meterKeys);
  const featureKeys = [...prices.flatMap(featureKeysOf), ...grants.map(({ featureKey }) => featureKey)];
  const held = await readGrantsOf(db, environment, { featureKeys, customerIds, nowMs });
  const simulated = new Map(
    [...held].map(([id, one]): [string, CustomerWithGrants] => [
      id,
      offer.grants ? withGrants(one, grants) : one,
    ]),
  );
  const first = new Map(subjects.toReversed().map((subject) => [subject.customerId, subject]));
  const limits = [...simulated].flatMap(([id, customer]) => {
    const subject = first.get(id);
    return subject && offer.grants ? limitsOf(customer, subject, { nowMs, aggregations }) : [];
  });
  const valuesBy = new Map(
    [held, simulated].map((customers, at) => [at === 1, seatValues(customers, nowMs)]),
  );
  return {
    aggregations,
    seatsOf: ({ customerId, isSimulated }, featureKey) =>
      unitsOf(valuesBy.get(isSimulated)?.get(customerId)?.get(featureKey)),
    limits,
  };
}

function seatValues(customers: ReadonlyMap<string, CustomerWithGrants>, nowMs: number) {
  return new Map([...customers].map(([id, customer]) => [id, valuesOf(customer, nowMs)]));
}

function costsByCustomer(costs: readonly RatedCost[]): Map<string, RatedCost[]> {
  const byCustomer = new Map<string, RatedCost[]>();
  for (const cost of costs) {
    const { customerId } = cost.span;
    const own = byCustomer.get(customerId);
    if (own) own.push(cost);
    else byCustomer.set(customerId, [cost]);
  }
  return byCustomer;
}

function comparedTotals(costs: readonly RatedCost[]): SimulatedCustomerRow['totals'] {
  const current = totalsOf(costs.filter(({ span }) => !span.isSimulated));
  const simulated = totalsOf(costs.filter(({ span }) => span.isSimulated));
  const currencies = [...new Set([...current.keys(), ...simulated.keys()])].sort();
  return currencies.map((currency) => ({
    currency,
    current: moneyText(current.get(currency) ?? 0n),
    simulated: moneyText(simulated.get(currency) ?? 0n),
  }));
}

function tooLarge(): Rejected {
  return new Rejected('overloaded', 'These customers have too many subscriptions and lines for one step.');
}
