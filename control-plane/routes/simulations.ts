import type { Grant } from '../../domain/rules/resolve-entitlements.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import {
  type NewSimulation,
  SIMULATION_CUSTOMERS_MAX,
  SIMULATION_DAYS_MAX,
  SIMULATIONS_KEPT_MAX,
  SIMULATIONS_OPEN_MAX,
} from '../../schemas/resources/simulations.ts';
import { knownPlan } from '../changes/change-plan.ts';
import { shownSimulated, shownSimulation } from '../cost/shown-simulation.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readPrices } from '../input/read-prices.ts';
import { findFeatures } from '../store/features.ts';
import { findCustomerIds } from '../store/find-customer-id.ts';
import { listPlanEntitlements } from '../store/plan-entitlements.ts';
import type { PlanRow } from '../store/plans.ts';
import { findPlanPrices } from '../store/price-sets.ts';
import {
  countSimulationsLocked,
  countSubscribers,
  findSimulation,
  insertSimulation,
  listSimulated,
  type NewSimulationRow,
} from '../store/simulations.ts';
import { openSpan } from '../usage/window.ts';

const DAY_MS = 86_400_000;

export const simulationHandlers: Pick<Handlers, 'simulations.create' | 'simulations.retrieve'> = {
  'simulations.create': async (context, { body, bodyText }) => {
    const { db, environment, nowMs } = context;
    const { fromMs, toMs } = spanOf(body);
    const offered = await offerOf(context, body, bodyText);
    const members = await membersOf(context, body);
    await requireRoom(context);
    const row = await insertSimulation(db, environment, {
      ...{ ...offered, ...members, id: newId('sim') },
      ...{ startsAt: new Date(fromMs), endsAt: new Date(toMs), createdAt: new Date(nowMs) },
    });
    if (!row) throw new Defect('a simulation of this transaction is missing');
    return shownSimulation(row);
  },

  'simulations.retrieve': async ({ db, environment }, { params: { simulationId }, query }) => {
    const row = await findSimulation(db, environment, simulationId);
    if (!row) throw notFound(simulationId);
    const isBeyond = query.passedLimits === 'true';
    const { rows, total } = await listSimulated(db, row.id, { ...query, isBeyond });
    return { ...shownSimulation(row), customers: pageOf(rows.map(shownSimulated), total, query) };
  },
};

function spanOf({ from, to }: NewSimulation): Span {
  const span = openSpan({ from, to });
  if (span.toMs - span.fromMs <= SIMULATION_DAYS_MAX * DAY_MS) return span;
  throw invalid('to', `must be at most ${SIMULATION_DAYS_MAX} days after \`from\``);
}

/** The simulated prices, as they are now. Throws Rejected. */
async function offerOf(
  context: RequestContext,
  { planId, prices }: NewSimulation,
  bodyText: string,
): Promise<Pick<NewSimulationRow, 'planId' | 'offer'>> {
  if (planId !== undefined && prices !== undefined)
    throw invalid('prices', 'cannot be combined with `planId`');
  if (planId === undefined && prices === undefined) throw invalid('planId', 'is required, or `prices`');
  if (planId === undefined) {
    return { planId: null, offer: { prices: await readPrices(context, bodyText) } };
  }
  const plan = await knownPlan(context, planId);
  const current = await findPlanPrices(context.db, { planId: plan.id, version: plan.version });
  return { planId: plan.id, offer: { prices: current, grants: await grantsOf(context, plan) } };
}

/** What the plan gives, as a subscription to it would hold it. */
async function grantsOf({ db, environment }: RequestContext, plan: PlanRow): Promise<Grant[]> {
  const rows = await listPlanEntitlements(db, environment, { planId: plan.id, version: plan.version });
  const features = await findFeatures(
    db,
    environment,
    rows.map(({ featureKey }) => featureKey),
  );
  const meterOf = new Map(features.map(({ key, meterKey }) => [key, meterKey]));
  return rows.map(({ featureKey, ...value }) => {
    const meterKey = meterOf.get(featureKey) ?? null;
    return { featureKey, meterKey, ...value, source: `plan:${plan.key}`, quantity: 1 };
  });
}

/** Throws Rejected. */
async function membersOf(
  { db, environment }: RequestContext,
  { customerIds, all }: NewSimulation,
): Promise<Pick<NewSimulationRow, 'customerIds' | 'customers'>> {
  if (customerIds && all) throw invalid('all', 'cannot be combined with `customerIds`');
  if (customerIds) {
    const ids = await findCustomerIds(db, environment, customerIds);
    const missing = customerIds.findIndex((name) => !ids.has(name));
    if (missing < 0) {
      const own = [...new Set(ids.values())].sort();
      return { customerIds: own, customers: own.length };
    }
    const message = `There is no customer ${customerIds[missing]}.`;
    throw new Rejected('customer_not_found', message, { param: `customerIds.${missing}` });
  }
  if (!all) throw invalid('customerIds', 'is required, or `all`');
  const customers = await countSubscribers(db, environment, SIMULATION_CUSTOMERS_MAX + 1);
  if (customers <= SIMULATION_CUSTOMERS_MAX) return { customerIds: null, customers };
  throw invalid('all', `is for at most ${SIMULATION_CUSTOMERS_MAX} customers; name some in \`customerIds\``);
}

/** Throws Rejected. */
async function requireRoom({ db, environment }: RequestContext): Promise<void> {
  const { open, kept } = await countSimulationsLocked(db, environment);
  if (open < SIMULATIONS_OPEN_MAX && kept < SIMULATIONS_KEPT_MAX) return;
  const message =
    open < SIMULATIONS_OPEN_MAX
      ? `There are ${kept} simulations already. The oldest is removed after some days.`
      : `${open} simulations are not finished. Request another one when one of them is.`;
  throw new Rejected('rate_limited', message);
}

function notFound(id: string): Rejected {
  return new Rejected('not_found', `There is no simulation ${id}.`, { param: 'simulationId' });
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
