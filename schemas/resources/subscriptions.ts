import { type Static, type TSchema, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { FIRST_STATUSES, INTERVALS, SUBSCRIPTION_STATUSES } from '../value-sets.ts';

import { NamedId, Nothing, PageQuery, PlainValues, pageOf, Timestamp } from './fields.ts';

/** Each can have 500 features, and each check adds up all entitlements of a customer. */
export const SUBSCRIPTION_ADDONS_MAX = 20;
/** Subscriptions of one customer that have not ended. */
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
  'Together with `intervalCount` the length of a billing period. The first period and a changed period can ' +
  'have another length.';
const INTERVAL_COUNT = `At most ${Object.entries(INTERVAL_COUNT_MAX)
  .map(([interval, max]) => `${max} for \`${interval}\``)
  .join(', ')}.`;
const SHOWN_INTERVAL =
  'Left out when a subscription of an earlier release has periods that are not a whole number of days.';
const ANCHOR =
  'Periods begin at this time and at every multiple of the period length before and after it. In a month ' +
  'without that day a period begins on the last day of the month.';
const PENDING_PLAN = 'The plan that the subscription changes to at the end of its period.';
const PERIOD = 'The period includes `currentPeriodStart` and excludes `currentPeriodEnd`.';
const CANCEL_AT = 'When the subscription is canceled automatically; within 10 s if that time is in the past.';
const TRIAL_END = 'When a trialing subscription becomes active automatically.';
const PLAN_VERSION =
  'Pins the subscription to this version of the plan. Without a version, changes of the plan apply to the ' +
  'subscription at once.';

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
  canceledAt: Type.Optional(described(Timestamp, 'When the subscription reached the status `canceled`.')),
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
  customerId: described(NamedId, "The customer's id or your own `externalId`."),
  planId: described(NamedId, "The plan's id or key. The plan must not be archived."),
  status: Type.Optional(
    described(
      Type.Enum([...FIRST_STATUSES]),
      'Default: `trialing` when `trialEnd` is in the future, otherwise `active`.',
    ),
  ),
  currentPeriodStart: Type.Optional(
    described(
      Timestamp,
      `Default: now. ${PERIOD} The subscription entitles from its start on, which may be in the future.`,
    ),
  ),
  currentPeriodEnd: Type.Optional(
    described(
      Timestamp,
      'Default: `trialEnd` for a trialing subscription, otherwise the next period boundary after the start.',
    ),
  ),
  interval: Type.Optional(described(Interval, `Default: \`month\`. ${INTERVAL}`)),
  intervalCount: Type.Optional(described(IntervalCount, `Default: 1. ${INTERVAL_COUNT}`)),
  billingAnchor: Type.Optional(
    described(
      Timestamp,
      `${ANCHOR} Default: the start of the first period if its length is \`interval\` × ` +
        `\`intervalCount\`, otherwise its end.`,
    ),
  ),
  cancelAt: Type.Optional(described(Timestamp, CANCEL_AT)),
  trialEnd: Type.Optional(described(Timestamp, TRIAL_END)),
  processorSubscriptionId: Type.Optional(
    described(
      NamedId,
      "The payment processor's id of the subscription. The processor's events then determine its periods.",
    ),
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
      'A new plan removes `planVersion`, unless the request contains it, and any pending plan change. null ' +
        'with `at: period_end` removes the pending plan change.',
    ),
  ),
  at: Type.Optional(
    Type.Enum(['now', 'period_end'], {
      description:
        'When a new `planId` takes effect: now, or at the end of the current period. Until then it is ' +
        'shown as `pendingPlanId`, and it takes effect even if the plan is archived in the meantime. The ' +
        'period of a subscription with a processor ends when the processor reports the next one.',
    }),
  ),
  pendingPlanId: Type.Optional(
    Type.Null({ description: 'null removes the pending plan change. To set one, use `planId` and `at`.' }),
  ),
  planVersion: Type.Optional(orNull(PlanVersion, `${PLAN_VERSION} null removes the pin.`)),
  currentPeriodStart: Type.Optional(
    described(
      Timestamp,
      `${PERIOD} With a start in the future, no usage counts until then, unless the period follows the ` +
        'current one.',
    ),
  ),
  currentPeriodEnd: Type.Optional(
    described(Timestamp, `${PERIOD} The next period begins at this time and has the regular length.`),
  ),
  interval: Type.Optional(
    described(
      Interval,
      `${INTERVAL} A change applies from the next period on; \`intervalCount\` is then 1 unless it is given.`,
    ),
  ),
  intervalCount: Type.Optional(described(IntervalCount, INTERVAL_COUNT)),
  cancelAt: Type.Optional(orNull(Timestamp, `${CANCEL_AT} null removes the cancellation.`)),
  trialEnd: Type.Optional(
    orNull(Timestamp, `${TRIAL_END} The period of a trial ends at the same time. null removes it.`),
  ),
  processorSubscriptionId: Type.Optional(described(NamedId, 'Can be set once.')),
  metadata: Type.Optional(PlainValues),
});
export type SubscriptionPatch = Static<typeof SubscriptionPatch>;

export const SubscriptionCancellation = Type.Object({
  at: Type.Enum(['now', 'period_end'], {
    default: 'now',
    description:
      '`now` cancels at once. `period_end` sets `cancelAt` to the end of the current period or trial; when ' +
      'that end is changed, `cancelAt` changes with it.',
  }),
});

export const AddonQuantity = Type.Object({ quantity: Quantity });

export const SubscriptionParams = Type.Object({ subscriptionId: NamedId });
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
      customerId: Type.Optional(described(NamedId, "The customer's id or your own `externalId`.")),
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
      'Without a processor the server begins each next period, by `interval` and `intervalCount` from ' +
      '`billingAnchor` (31 Jan → 28 Feb → 31 Mar); the first period can have another length. A trial is a ' +
      'period of its own, and the first paid period begins at its end.',
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
    summary: 'Retrieve a subscription',
    errors: ['subscription_not_found'],
  }),
  'subscriptions.update': defineRoute({
    ...one,
    method: 'PATCH',
    path: PATH,
    summary: 'Update a subscription',
    description:
      'Fields left out keep their values. `metadata` is replaced as a whole, and its change sends no ' +
      'event. On an ended subscription only `metadata` can be changed. The `details` of ' +
      '`illegal_transition` list the allowed statuses.',
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
    summary: 'Cancel a subscription now or at the end of its period',
    body: SubscriptionCancellation,
    bodyOptional: true,
    example: { at: 'period_end' },
    errors: ['subscription_not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'subscriptions.setAddon': defineRoute({
    ...one,
    method: 'PUT',
    path: `${PATH}/addons/{addonId}`,
    summary: 'Add an add-on to a subscription, or change its quantity',
    params: AddonParams,
    body: AddonQuantity,
    example: { quantity: 2 },
    errors: ['subscription_not_found', 'not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'subscriptions.removeAddon': defineRoute({
    ...change,
    method: 'DELETE',
    path: `${PATH}/addons/{addonId}`,
    summary: 'Remove an add-on from a subscription',
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
