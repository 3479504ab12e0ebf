import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, PageQuery, pageOf, ruled, Timestamp } from './fields.ts';

/** Printable ASCII without spaces: a space or line feed that was copied along is an error and not stored. */
const SecretText = {
  minLength: 8,
  maxLength: 255,
  ...ruled('^[\\x21-\\x7e]+$', 'must contain visible ASCII characters only, no spaces'),
} as const;

export const ProcessorAction = Type.Object({
  action: Type.Enum(['connect', 'disconnect', 'set_webhook_secret']),
  apiKey: Type.Optional(
    Type.String({ ...SecretText, description: "The processor's API key. Required by `connect`." }),
  ),
  secret: Type.Optional(
    Type.String({
      ...SecretText,
      description:
        "The signing secret of the processor's webhook endpoint. Required by `set_webhook_secret`, " +
        'optional for `connect`.',
    }),
  ),
});
export type ProcessorAction = Static<typeof ProcessorAction>;

export const ProcessorActionResult = Type.Object({ ok: Type.Boolean() });

export const ProcessorConnection = Type.Object({
  connected: Type.Boolean(),
  keyLast4: Type.Optional(Type.String()),
  webhookSecretSet: Type.Boolean(),
});
export type ProcessorConnection = Static<typeof ProcessorConnection>;

/** The fields of the processor's event that are read. */
export const SignedProcessorEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  created: Type.Integer({ description: 'Unix seconds.' }),
  livemode: Type.Optional(Type.Boolean({ description: 'Must agree with the mode in the path.' })),
  data: Type.Object({ object: Type.Object({}) }),
});

export const SignedProcessorEventReceipt = Type.Object({ received: Type.Boolean() });

/** An id that the processor assigned. */
export const ProcessorId = Type.String({
  minLength: 1,
  maxLength: 255,
  ...ruled('^[\\x21-\\x7e]+$', 'must contain visible ASCII characters only, no spaces'),
});

/** Of a plan or an add-on. */
export const ProcessorPriceIds = Type.Array(ProcessorId, {
  maxItems: 50,
  uniqueItems: true,
  description:
    'Prices of the payment processor. A price that belongs to another object is 409 `already_exists`.',
});

const EVENT_STATUSES = ['applied', 'ignored', 'unmatched'] as const;
export type ProcessorEventStatus = (typeof EVENT_STATUSES)[number];

const EVENT_REASONS = [
  'older',
  'given_up',
  'subscription_not_linked',
  'customer_not_known',
  'customer_archived',
  'too_many_subscriptions',
  'price_not_mapped',
  'several_plans',
  'plan_archived',
  'quantity_out_of_range',
  'too_many_addons',
] as const;
export type ProcessorEventReason = (typeof EVENT_REASONS)[number];

export const ProcessorEvent = Type.Object({
  id: Type.String({ description: "The processor's id of the event." }),
  type: Type.Optional(Type.String()),
  status: Type.Enum([...EVENT_STATUSES], {
    description:
      '`applied`: the subscription was changed. `ignored`: the event changed nothing. `unmatched`: the ' +
      'event waits for up to 35 days, and is applied when its subscription is linked or its prices are ' +
      'mapped.',
  }),
  reasons: Type.Array(Type.Enum([...EVENT_REASONS]), {
    description:
      'Why the event waits, was ignored, or was applied without its items. `older`: it is older than an ' +
      'applied event or than a change through this API. `given_up`: more than 20 newer events of its ' +
      'subscription wait, or more than 10,000 events (32 MiB) of the environment.',
  }),
  processorSubscriptionId: Type.Optional(Type.String()),
  subscriptionId: Type.Optional(
    Type.String({ description: 'The subscription that is linked to `processorSubscriptionId`.' }),
  ),
  processorCustomerId: Type.Optional(Type.String({ description: 'Only while the event waits.' })),
  customerName: Type.Optional(
    Type.String({ description: 'The `metadata.customerId` of the event, only while it waits.' }),
  ),
  items: Type.Optional(
    Type.Array(Type.Object({ priceId: Type.String(), quantity: Type.Number() }), {
      description: 'The subscription items of the event, only while it waits.',
    }),
  ),
  missingPriceIds: Type.Array(Type.String(), {
    description: 'Prices of the event that no plan or add-on has.',
  }),
  occurredAt: Type.Optional(Timestamp),
  receivedAt: Timestamp,
});
export type ProcessorEvent = Static<typeof ProcessorEvent>;

const PROCESSOR = `${API_BASE}/integrations/processor` as const;

export const integrationRoutes = {
  connectProcessor: defineRoute({
    method: 'POST',
    path: PROCESSOR,
    plane: 'control',
    access: 'integrations:manage',
    summary: 'Connect or disconnect the payment processor, or set its webhook secret',
    description:
      '`connect` requires `apiKey` and accepts `secret`; `set_webhook_secret` requires `secret`; ' +
      '`disconnect` deletes both, and succeeds when nothing is connected. Both are stored encrypted and ' +
      'never returned. The operation makes no network requests.',
    params: Nothing,
    query: Nothing,
    body: ProcessorAction,
    example: { action: 'set_webhook_secret', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
    status: 200,
    response: ProcessorActionResult,
    errors: [],
  }),
  'processor.retrieve': defineRoute({
    method: 'GET',
    path: PROCESSOR,
    plane: 'control',
    access: 'integrations:manage',
    summary: 'Retrieve the connection to the payment processor',
    params: Nothing,
    query: Nothing,
    status: 200,
    response: ProcessorConnection,
    errors: [],
  }),
  'processor.listEvents': defineRoute({
    method: 'GET',
    path: `${PROCESSOR}/events`,
    plane: 'control',
    access: 'integrations:manage',
    summary: 'List subscription events of the payment processor, newest first',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(Type.Enum([...EVENT_STATUSES])),
      processorSubscriptionId: Type.Optional(ProcessorId),
    }),
    status: 200,
    response: pageOf(ProcessorEvent),
    errors: [],
  }),
  'processor.applyEvent': defineRoute({
    method: 'POST',
    path: `${PROCESSOR}/events/{processorEventId}/apply`,
    plane: 'control',
    access: 'integrations:manage',
    summary: 'Apply an unmatched event',
    description:
      'Applies the waiting events of its subscription, in the order of the processor. The server also does ' +
      'this within seconds after a missing price is mapped. An event that is not waiting any longer is ' +
      'returned unchanged.',
    params: Type.Object({
      processorEventId: Type.String({ ...ProcessorId, description: "The processor's id of the event." }),
    }),
    query: Nothing,
    status: 200,
    response: ProcessorEvent,
    errors: ['not_found'],
  }),
  'processor.receiveEvent': defineRoute({
    method: 'POST',
    path: `${PROCESSOR}/webhooks/{workspaceId}/{mode}`,
    plane: 'control',
    access: 'signature',
    summary: 'Receive an event of the payment processor',
    description:
      "Configure this URL as the processor's webhook endpoint. Requests must be signed like Stripe's " +
      '(`Stripe-Signature`), at most 5 minutes ago, and `livemode` must agree with the mode in the path. ' +
      'A `customer.subscription.*` event sets the status, period, `cancelAt`, `trialEnd`, plan and ' +
      'add-ons of the subscription with that `processorSubscriptionId`, even if the API would not allow ' +
      'the status transition. `pause_collection` sets `paused`. Plan and add-ons are those whose ' +
      "`processorPriceIds` contain the prices of the event's items. Events are ordered by the " +
      "processor's time. Within one second the creation is first, the end is last, and otherwise the " +
      'event received later applies. An event older than a change through this API does not revert it. A ' +
      'subscription that is not linked is created if its customer is known (`processorCustomerId` or ' +
      '`metadata.customerId`) and one of its prices belongs to a plan. Otherwise the event waits for up ' +
      'to 35 days, and is applied when a subscription is linked or its prices are mapped. Events of a ' +
      'test clock are ordered among themselves. Replays, older events and other event types change ' +
      'nothing and get 200.',
    params: Type.Object({
      workspaceId: NamedId,
      mode: Type.String({ ...NamedId, description: '`live` or `test`.' }),
    }),
    query: Nothing,
    headers: Type.Object({ 'Stripe-Signature': Type.String({ description: '`t=<unix seconds>,v1=<hex>`' }) }),
    body: SignedProcessorEvent,
    example: {
      id: 'evt_1',
      type: 'customer.subscription.updated',
      created: 1767225600,
      livemode: true,
      data: { object: {} },
    },
    status: 200,
    response: SignedProcessorEventReceipt,
    errors: ['signature_invalid'],
  }),
  'integrations.legacyWebhooks': defineRoute({
    method: 'GET',
    path: `${API_BASE}/integrations/legacy-webhooks`,
    plane: 'control',
    access: 'any_key',
    summary: 'Removed on 2026-09-30; use GET /api/v1/webhooks/endpoints',
    params: Nothing,
    query: Nothing,
    status: 410,
    response: Type.Never(),
    errors: ['endpoint_removed'],
    deprecated: true,
  }),
};
