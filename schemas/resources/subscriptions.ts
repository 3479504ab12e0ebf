import { type Static, type TSchema, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { FIRST_STATUSES, INTERVALS, SUBSCRIPTION_STATUSES } from '../value-sets.ts';

import { NamedId, Nothing, PageQuery, PlainValues, pageOf, Timestamp } from './fields.ts';

/** Each may give 500 features, and what a customer holds is added up on every check. */
export const SUBSCRIPTION_ADDONS_MAX = 20;
/** That have not ended. */
export const CUSTOMER_SUBSCRIPTIONS_MAX = 100;
export const QUANTITY_MAX = 1_000_000;
/** Of intervals in a period. */
export const INTERVAL_COUNT_MAX = { day: 366, week: 52, month: 36, year: 10 } as const;

const Quantity = Type.Integer({ minimum: 1, maximum: QUANTITY_MAX });
const Status = Type.Enum([...SUBSCRIPTION_STATUSES]);
const PlanVersion = Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 });

const Interval = Type.Enum([...INTERVALS]);
const IntervalCount = Type.Integer({ minimum: 1, maximum: INTERVAL_COUNT_MAX.day });

const INTERVAL =
  'With `intervalCount` how long a period is. The first one, and one that is changed, may have another ' +
  'length.';
const INTERVAL_COUNT = `At most ${Object.entries(INTERVAL_COUNT_MAX)
  .map(([interval, max]) => `${max} for \`${interval}\``)
  .join(', ')}.`;
const SHOWN_INTERVAL =
  'Left out where a subscription of an earlier release has periods of no whole number of days.';
const ANCHOR =
  'Periods begin and end at this moment, and so many intervals before and after it: on the 31st, or the ' +
  'last day of a shorter month.';
const PENDING_PLAN = 'The plan that it changes to at the end of its period.';
const PERIOD = 'From `currentPeriodStart` up to and without `currentPeriodEnd`.';
const CANCEL_AT = 'When it is canceled by itself; within 10 s where that moment has passed.';
const TRIAL_END = 'When a trialing subscription becomes active by itself.';
const PLAN_VERSION =
  "Stays with this version of the plan. Without one it follows the plan's changes at once.";

export const Subscription = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  planId: Type.String(),
  planName: Type.String(),
  status: Status,
  currentPeriodStart: Timestamp,
  currentPeriodEnd: Timestamp,
  interval: Type.Optional(described(Interval, `${INTERVAL} ${SHOWN_INTERVAL}`)),
  intervalCount: Type.Optional(Type.Integer({ minimum: 1, description: SHOWN_INTERVAL })),
  billingAnchor: described(Timestamp, ANCHOR),
  cancelAt: Type.Optional(described(Timestamp, CANCEL_AT)),
  canceledAt: Type.Optional(described(Timestamp, 'When it reached `canceled`.')),
  trialEnd: Type.Optional(described(Timestamp, TRIAL_END)),
  processorSubscriptionId: Type.Optional(Type.String()),
  planVersion: Type.Optional(described(Type.Integer(), PLAN_VERSION)),
  pendingPlanId: Type.Optional(described(Type.String(), PENDING_PLAN)),
  addons: Type.Array(Type.Object({ addonId: Type.String(), quantity: Quantity })),
  metadata: Type.Optional(PlainValues),
  createdAt: Timestamp,
});
export type Subscription = Static<typeof Subscription>;

export const NewSubscription = Type.Object({
  customerId: described(NamedId, "The customer's id or your own externalId."),
  planId: described(NamedId, "The plan's id or key; not of an archived plan."),
  status: Type.Optional(
    described(Type.Enum([...FIRST_STATUSES]), 'Trialing where `trialEnd` is ahead, else active.'),
  ),
  currentPeriodStart: Type.Optional(
    described(Timestamp, `Now. ${PERIOD} It entitles from its start on, also where that lies ahead.`),
  ),
  currentPeriodEnd: Type.Optional(
    described(Timestamp, '`trialEnd` of a trialing one, else an interval after the start.'),
  ),
  interval: Type.Optional(described(Interval, `\`month\`. ${INTERVAL}`)),
  intervalCount: Type.Optional(described(IntervalCount, `1. ${INTERVAL_COUNT}`)),
  billingAnchor: Type.Optional(
    described(
      Timestamp,
      `${ANCHOR} The start of the first period where that is one interval long, else its end.`,
    ),
  ),
  cancelAt: Type.Optional(described(Timestamp, CANCEL_AT)),
  trialEnd: Type.Optional(described(Timestamp, TRIAL_END)),
  processorSubscriptionId: Type.Optional(
    described(NamedId, "The payment processor's own id of it. The processor then says when a period ends."),
  ),
  planVersion: Type.Optional(described(PlanVersion, PLAN_VERSION)),
  addons: Type.Optional(
    Type.Array(Type.Object({ addonId: NamedId, quantity: Quantity }), { maxItems: SUBSCRIPTION_ADDONS_MAX }),
  ),
  metadata: Type.Optional(PlainValues),
});
export type NewSubscription = Static<typeof NewSubscription>;

export const SubscriptionPatch = Type.Object({
  status: Type.Optional(Status),
  planId: Type.Optional(
    orNull(
      NamedId,
      'Another plan takes `planVersion` away unless it is given too, and any change that waits. Null, with ' +
        '`at: period_end`: no change waits any more.',
    ),
  ),
  at: Type.Optional(
    Type.Enum(['now', 'period_end'], {
      description:
        'When another `planId` takes effect: now, or at the end of the period. Until then it is shown as ' +
        '`pendingPlanId`. It does also where the plan is archived meanwhile. Of a subscription with a ' +
        'processor the period ends when the processor tells of the next one.',
    }),
  ),
  pendingPlanId: Type.Optional(
    Type.Null({ description: 'Null: no change of the plan waits any more. Set it with `planId` and `at`.' }),
  ),
  planVersion: Type.Optional(orNull(PlanVersion, `${PLAN_VERSION} Null: follow the plan again.`)),
  currentPeriodStart: Type.Optional(
    described(
      Timestamp,
      `${PERIOD} Of one that lies ahead nothing counts until then, unless it follows the running period.`,
    ),
  ),
  currentPeriodEnd: Type.Optional(
    described(Timestamp, `${PERIOD} The next period begins there, and is one interval long.`),
  ),
  interval: Type.Optional(
    described(Interval, `${INTERVAL} Another one begins with the next period, with \`intervalCount\` 1.`),
  ),
  intervalCount: Type.Optional(described(IntervalCount, INTERVAL_COUNT)),
  cancelAt: Type.Optional(orNull(Timestamp, `${CANCEL_AT} Null: not any more.`)),
  trialEnd: Type.Optional(orNull(Timestamp, `${TRIAL_END} The period of a trial ends with it. Null: none.`)),
  processorSubscriptionId: Type.Optional(described(NamedId, 'Set once, where there is none.')),
  metadata: Type.Optional(PlainValues),
});
export type SubscriptionPatch = Static<typeof SubscriptionPatch>;

export const SubscriptionCancellation = Type.Object({
  at: Type.Enum(['now', 'period_end'], {
    default: 'now',
    description:
      '`period_end` sets `cancelAt` to the end of the running period, in a trial to the end of that; where ' +
      'this end is moved, `cancelAt` moves with it.',
  }),
});

export const AddonQuantity = Type.Object({ quantity: Quantity });

const SubscriptionParams = Type.Object({ subscriptionId: NamedId });
const AddonParams = Type.Object({
  ...SubscriptionParams.properties,
  addonId: described(NamedId, "The add-on's id or key."),
});

const change = { plane: 'control', access: 'subscriptions:write', query: Nothing } as const;
const one = {
  ...change,
  params: SubscriptionParams,
  status: 200,
  response: Subscription,
  etag: true,
} as const;
const PATH = `${API_BASE}/subscriptions/{subscriptionId}` as const;

export const subscriptionRoutes = {
  'subscriptions.list': defineRoute({
    ...change,
    method: 'GET',
    path: `${API_BASE}/subscriptions`,
    summary: 'List subscriptions, newest first',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      customerId: Type.Optional(described(NamedId, "The customer's id or your own externalId.")),
      status: Type.Optional(Status),
      planId: Type.Optional(described(NamedId, "The plan's id or key.")),
      processorSubscriptionId: Type.Optional(NamedId),
    }),
    status: 200,
    response: pageOf(Subscription),
    errors: [],
  }),
  'subscriptions.create': defineRoute({
    ...change,
    method: 'POST',
    path: `${API_BASE}/subscriptions`,
    summary: 'Subscribe a customer to a plan',
    description:
      'Without a processor the period rolls forward by itself, by `interval` and `intervalCount` from ' +
      '`billingAnchor` (31 Jan → 28 Feb → 31 Mar), whatever the length of the first one. A trial is a ' +
      'period of its own: the first that is paid begins where it ends.',
    params: Nothing,
    body: NewSubscription,
    example: { customerId: 'acme', planId: 'pro', metadata: { seller: 'web' } },
    status: 201,
    response: Subscription,
    etag: true,
    errors: [
      'customer_not_found',
      'plan_not_found',
      'not_found',
      'customer_archived',
      'plan_archived',
      'already_exists',
      'value_invalid',
    ],
  }),
  'subscriptions.retrieve': defineRoute({
    ...one,
    method: 'GET',
    path: PATH,
    summary: 'Read a subscription',
    errors: ['subscription_not_found'],
  }),
  'subscriptions.update': defineRoute({
    ...one,
    method: 'PATCH',
    path: PATH,
    summary: 'Change a subscription',
    description:
      'What is left out stays. `metadata` is replaced as a whole, and no event tells of it. Of an ended ' +
      'subscription only the metadata can be changed. `details` of a refused status names the legal ones.',
    body: SubscriptionPatch,
    example: { metadata: { seller: 'phone' } },
    errors: [
      'subscription_not_found',
      'plan_not_found',
      'plan_archived',
      'already_exists',
      'illegal_transition',
      'precondition_failed',
      'value_invalid',
    ],
  }),
  'subscriptions.cancel': defineRoute({
    ...one,
    method: 'POST',
    path: `${PATH}/cancel`,
    summary: 'Cancel a subscription now, or at the end of its period',
    body: SubscriptionCancellation,
    bodyOptional: true,
    example: { at: 'period_end' },
    errors: ['subscription_not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'subscriptions.setAddon': defineRoute({
    ...one,
    method: 'PUT',
    path: `${PATH}/addons/{addonId}`,
    summary: 'Attach an add-on, or change how many',
    params: AddonParams,
    body: AddonQuantity,
    example: { quantity: 2 },
    errors: ['subscription_not_found', 'not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'subscriptions.removeAddon': defineRoute({
    ...change,
    method: 'DELETE',
    path: `${PATH}/addons/{addonId}`,
    summary: 'Take an add-on away',
    params: AddonParams,
    status: 204,
    response: Nothing,
    errors: ['subscription_not_found', 'not_found', 'illegal_transition', 'precondition_failed'],
  }),
};

function described<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description };
}

function orNull<S extends TSchema & { type: string }>(schema: S, description: string) {
  return Type.Unsafe<Static<S> | null>({ ...schema, type: [schema.type, 'null'], description });
}
