/** What customers and subscriptions cost, line by line. */
import { type Static, type TProperties, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Consistency } from './consistency.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, optional, Timestamp } from './fields.ts';
import { PRICE_MODELS } from './prices.ts';
import { SubscriptionParams } from './subscriptions.ts';

/** Of one response. */
export const COST_LINES_MAX = 1_000;

function decimal(description: string) {
  return Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, description });
}

const EXACT = 'Exact, before `minimum`, `maximum` and rounding.';

/** The part of a line that one tier charges. */
export const CostTier = Type.Object({
  upTo: Type.Unsafe<Static<typeof Decimal> | null>({ ...Decimal, type: ['number', 'null'] }),
  unitAmount: Decimal,
  flatAmount: Type.Optional(Decimal),
  quantity: Decimal,
  amount: decimal(`With the flat amount, where it is charged. ${EXACT}`),
});

/** The usage of a line under one value of the price's property. */
export const CostValue = Type.Object({
  value: Type.Optional(Type.String({ description: 'Left out for all values that the price does not name.' })),
  quantity: decimal('Included units are counted here too.'),
  unitAmount: Decimal,
});

/** How the events of a percentage are charged. */
export const CostEvents = Type.Object({
  charged: Type.Integer({ description: 'Events that cost their share and the fee.' }),
  atMin: Type.Integer({ description: 'Events that cost `min`.' }),
  atMax: Type.Integer({ description: 'Events that cost `max`.' }),
});

/** What one price charges for a part of one of its periods in which the price and the plan stay the same. */
export const CostLine = Type.Object({
  subscriptionId: Type.String(),
  planKey: Type.Optional(Type.String()),
  addonKey: Type.Optional(Type.String({ description: 'In place of `planKey`, for a price of an add-on.' })),
  priceKey: Type.String(),
  description: Type.Optional(Type.String({ description: 'Of the price.' })),
  model: Type.Enum(Object.keys(PRICE_MODELS)),
  meterKey: Type.Optional(Type.String()),
  featureKey: Type.Optional(Type.String()),
  from: Timestamp,
  to: Timestamp,
  used: Type.Optional(decimal("The meter's usage in this time, or the customer's seats.")),
  included: Type.Optional(decimal('Units of it that cost nothing.')),
  quantity: decimal('What is charged: units, packages, seats, or how often a flat amount is.'),
  unitAmount: Type.Optional(decimal('Of one of them, where it is the same for each.')),
  rate: Type.Optional(decimal('Of a percentage.')),
  fixed: Type.Optional(decimal('Of a percentage: the fee of an event.')),
  tiers: Type.Optional(Type.Array(CostTier)),
  values: Type.Optional(Type.Array(CostValue, { description: 'Of a price that differs by a property.' })),
  events: Type.Optional(CostEvents),
  exactAmount: decimal(EXACT),
  minimumAmount: Type.Optional(
    decimal(
      'What `minimum` adds; below zero where the usage of a later part of the period has come up to that.',
    ),
  ),
  maximumAmount: Type.Optional(decimal('What `maximum` takes away, below zero.')),
  currency: Type.String(),
  amount: decimal("The sum of these amounts, rounded half-even to the currency's minor unit."),
});
export type CostLine = Static<typeof CostLine>;

export const CostTotal = Type.Object({ currency: Type.String(), amount: Decimal });
export type CostTotal = Static<typeof CostTotal>;

function costOf<P extends TProperties>(owner: P) {
  return Type.Object({
    ...owner,
    from: Timestamp,
    to: Timestamp,
    totals: Type.Array(CostTotal, { description: 'The sum of the lines of each currency.' }),
    lines: Type.Array(CostLine, { maxItems: COST_LINES_MAX }),
    asOf: Timestamp,
  });
}

export const CustomerCost = costOf({ customerId: Type.String() });
export const SubscriptionCost = costOf({ subscriptionId: Type.String(), customerId: Type.String() });

const DESCRIPTION =
  'A line for each part of a period of a price in which the price and the plan stay the same. What begins ' +
  'within a period is charged as a whole; nothing is given back for what ends. Flat amounts and seats are ' +
  'charged where their period begins, usage as it occurs. Usage that is acknowledged before `asOf` is ' +
  `counted. At most ${COST_LINES_MAX} lines: a longer time is rejected.`;

const FROM = 'Requires `to`. Default: the start of the current billing period of each subscription.';
const TO = 'Requires `from`. Default: the end of that period. What has not begun yet is not charged.';

const one = {
  method: 'GET',
  plane: 'control',
  access: 'usage:read',
  description: DESCRIPTION,
  query: optional({
    from: Type.String({ ...Timestamp, description: FROM }),
    to: Type.String({ ...Timestamp, description: TO }),
    consistency: Consistency,
  }),
  status: 200,
} as const;

export const costRoutes = {
  'cost.ofCustomer': defineRoute({
    ...one,
    customerToken: true,
    path: `${API_BASE}/customers/{customerId}/cost`,
    summary: 'Retrieve what a customer costs, line by line',
    params: CustomerParams,
    response: CustomerCost,
    errors: ['customer_not_found', 'overloaded'],
  }),
  'cost.ofSubscription': defineRoute({
    ...one,
    path: `${API_BASE}/subscriptions/{subscriptionId}/cost`,
    summary: 'Retrieve what a subscription costs, line by line',
    params: SubscriptionParams,
    response: SubscriptionCost,
    errors: ['subscription_not_found', 'overloaded'],
  }),
};
