/**
 * As much of the processor's events as is read, of the API versions from 2022-11-15 to 2025-09-30.clover.
 * Source: https://docs.stripe.com/api/subscriptions/object, and its changelog. What differs: since
 * 2025-03-31.basil the items have a period and the subscription has none; older versions also show the price
 * of a single item as `plan`.
 */
import { type Static, Type } from 'typebox';
import { INTERVALS, SUBSCRIPTION_STATUSES } from '../../schemas/value-sets.ts';

/** Unix time, up to the latest time of our own timestamps. */
const Seconds = Type.Integer({ minimum: 0, maximum: Date.UTC(2100, 0, 1) / 1000 - 1 });
const Id = Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' });

/** A subscription has 20 items at most. */
const ITEMS_MAX = 100;

/** The id of an object, or the object itself where the webhook endpoint expands it. */
const Reference = Type.Union([Id, Type.Object({ id: Id })]);

const Period = Type.Object({
  current_period_start: maybe(Seconds),
  current_period_end: maybe(Seconds),
});
export type StripePeriod = Static<typeof Period>;

const Quantity = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const Recurring = Type.Object({
  interval: Type.Enum([...INTERVALS]),
  interval_count: maybe(Type.Integer({ minimum: 1 })),
});

const Item = Type.Object({
  ...Period.properties,
  price: maybe(Type.Union([Id, Type.Object({ id: Id, recurring: maybe(Recurring) })])),
  /** From before there were prices, and in addition to them until 2025. */
  plan: maybe(Reference),
  quantity: maybe(Quantity),
  deleted: maybe(Type.Boolean()),
});
export type StripeItem = Static<typeof Item>;

const Metadata = Type.Record(Type.String(), Type.Unknown());

const Subscription = Type.Object({
  id: Id,
  status: Type.Enum([...SUBSCRIPTION_STATUSES]),
  ...Period.properties,
  customer: maybe(Type.Union([Id, Type.Object({ id: Id, metadata: maybe(Metadata) })])),
  items: maybe(
    Type.Object({ data: Type.Array(Item, { maxItems: ITEMS_MAX }), has_more: maybe(Type.Boolean()) }),
  ),
  plan: maybe(Reference),
  quantity: maybe(Quantity),
  cancel_at: maybe(Seconds),
  cancel_at_period_end: maybe(Type.Boolean()),
  trial_end: maybe(Seconds),
  ended_at: maybe(Seconds),
  pause_collection: maybe(Type.Object({})),
  test_clock: maybe(Reference),
  metadata: maybe(Metadata),
});
export type StripeSubscription = Static<typeof Subscription>;

export const StripeEvent = Type.Object({
  id: Id,
  type: Type.String({ maxLength: 255 }),
  created: Seconds,
  livemode: maybe(Type.Boolean()),
});
export type StripeEvent = Static<typeof StripeEvent>;

export const StripeSubscriptionEvent = Type.Object({ data: Type.Object({ object: Subscription }) });
export type StripeSubscriptionEvent = Static<typeof StripeSubscriptionEvent>;

function maybe<S extends Parameters<typeof Type.Union>[0][number]>(schema: S) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}
