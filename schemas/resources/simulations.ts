/** What customers would have paid with other prices. */
import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Decimal, NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';
import { PRICES_MAX, Price } from './prices.ts';

export const SIMULATION_CUSTOMERS_MAX = 100_000;
export const SIMULATION_IDS_MAX = 10_000;
export const SIMULATION_DAYS_MAX = 400;
export const SIMULATION_KEPT_DAYS = 7;
/** Of an environment: that are not finished, and that are kept. */
export const SIMULATIONS_OPEN_MAX = 10;
export const SIMULATIONS_KEPT_MAX = 50;

export const NewSimulation = Type.Object({
  planId: Type.Optional(
    Type.String({
      ...NamedId,
      description: "Simulates this plan in its current version, by the plan's id or key. Or send `prices`.",
    }),
  ),
  prices: Type.Optional(
    Type.Array(Price, { maxItems: PRICES_MAX, description: 'Simulates these prices of the plan.' }),
  ),
  customerIds: Type.Optional(
    Type.Array(NamedId, {
      minItems: 1,
      maxItems: SIMULATION_IDS_MAX,
      description: "The customers' ids or your own `externalId`s. Or send `all`.",
    }),
  ),
  all: Type.Optional(Type.Literal(true, { description: 'Every customer that has or had a subscription.' })),
  from: Timestamp,
  to: Timestamp,
});
export type NewSimulation = Static<typeof NewSimulation>;

const difference = { currency: Type.String(), current: Decimal, simulated: Decimal, difference: Decimal };
export const SimulatedTotal = Type.Object(difference);

export const SimulationTotal = Type.Object({
  ...difference,
  customers: Type.Integer({ description: 'That pay or would pay in this currency.' }),
  quantiles: Type.Array(Type.Object({ share: Type.Number(), difference: Decimal }), {
    description: 'The difference that this share of the customers does not exceed.',
  }),
});

/** A limit of the simulated plan that a customer's usage would have passed. */
export const PassedLimit = Type.Object({
  featureKey: Type.String(),
  limit: Decimal,
  soft: Type.Boolean(),
  used: Decimal,
  from: Timestamp,
  to: Timestamp,
});
export type PassedLimit = Static<typeof PassedLimit>;

export const SimulatedCustomer = Type.Object({
  customerId: Type.String(),
  totals: Type.Array(SimulatedTotal),
  passedLimits: Type.Array(PassedLimit, {
    description: 'The window with the most usage, for each limit that is passed.',
  }),
});

export const Simulation = Type.Object({
  id: Type.String(),
  status: Type.Enum(['pending', 'running', 'completed', 'failed']),
  planId: Type.Optional(Type.String()),
  from: Timestamp,
  to: Timestamp,
  progress: Type.Object({ customers: Type.Integer(), done: Type.Integer() }),
  totals: Type.Optional(Type.Array(SimulationTotal, { description: 'Once it is completed.' })),
  asOf: Type.Optional(Timestamp),
  createdAt: Timestamp,
  finishedAt: Type.Optional(Timestamp),
  expiresAt: Timestamp,
});
export type Simulation = Static<typeof Simulation>;

export const SimulationResult = Type.Object({
  ...Simulation.properties,
  customers: Type.Unsafe<Static<ReturnType<typeof pageOf<typeof SimulatedCustomer>>>>({
    ...pageOf(SimulatedCustomer),
    description: 'Those that are done, largest difference first.',
  }),
});

const PATH = `${API_BASE}/simulations` as const;

export const simulationRoutes = {
  'simulations.create': defineRoute({
    method: 'POST',
    path: PATH,
    plane: 'control',
    access: 'usage:read',
    summary: 'Simulate what customers would have paid with other prices',
    description:
      'Starts a job over the stored usage, which changes nothing else. Each subscription is charged as if ' +
      'its plan had had these prices (and, with `planId`, these entitlements) all the time; add-ons, ' +
      `trials and pauses stay as they were. At most ${SIMULATION_DAYS_MAX} days and ` +
      `${SIMULATION_CUSTOMERS_MAX} customers; ${SIMULATIONS_OPEN_MAX} unfinished jobs, and ` +
      `${SIMULATIONS_KEPT_MAX} in ${SIMULATION_KEPT_DAYS} days.`,
    params: Nothing,
    query: Nothing,
    body: NewSimulation,
    example: { planId: 'pro', all: true, from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' },
    status: 202,
    response: Simulation,
    errors: ['plan_not_found', 'customer_not_found', 'meter_not_found', 'feature_not_found', 'value_invalid'],
  }),
  'simulations.retrieve': defineRoute({
    method: 'GET',
    path: `${PATH}/{simulationId}`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Retrieve a simulation: its progress, and its results by customer',
    description: `It is kept for ${SIMULATION_KEPT_DAYS} days.`,
    params: Type.Object({ simulationId: NamedId }),
    query: Type.Object({
      ...PageQuery.properties,
      passedLimits: Type.Optional(
        Type.Enum(['true', 'false'], { description: '`true`: only customers that would pass a limit.' }),
      ),
    }),
    status: 200,
    response: SimulationResult,
    errors: ['not_found'],
  }),
};
