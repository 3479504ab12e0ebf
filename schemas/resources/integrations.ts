import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, PageQuery, pageOf, ruled, Timestamp } from './fields.ts';

/** Printable ASCII without spaces: what came along from a copied line is told and not stored. */
const SecretText = {
  minLength: 8,
  maxLength: 255,
  ...ruled('^[\\x21-\\x7e]+$', 'must hold visible ASCII characters only, no spaces'),
} as const;

export const ProcessorAction = Type.Object({
  action: Type.Enum(['connect', 'disconnect', 'set_webhook_secret']),
  apiKey: Type.Optional(Type.String({ ...SecretText, description: "The processor's key, for `connect`." })),
  secret: Type.Optional(
    Type.String({
      ...SecretText,
      description: "The signing secret of the processor's webhook endpoint; `connect` takes it too.",
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

/** As much of the processor's event as is looked at. */
export const SignedProcessorEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  created: Type.Integer({ description: 'Unix seconds.' }),
  livemode: Type.Optional(Type.Boolean({ description: 'Has to be that of the path.' })),
  data: Type.Object({ object: Type.Object({}) }),
});

export const SignedProcessorEventReceipt = Type.Object({ received: Type.Boolean() });

/** An id of the processor's, as it prints them. */
export const ProcessorId = Type.String({
  minLength: 1,
  maxLength: 255,
  ...ruled('^[\\x21-\\x7e]+$', 'must hold visible ASCII characters only, no spaces'),
});

/** Of a plan or an add-on. */
export const ProcessorPriceIds = Type.Array(ProcessorId, {
  maxItems: 50,
  uniqueItems: true,
  description: "Prices of the payment processor. Another's price is 409 `already_exists`.",
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
  id: Type.String({ description: "The processor's own." }),
  type: Type.Optional(Type.String()),
  status: Type.Enum([...EVENT_STATUSES], {
    description:
      '`unmatched` waits, for 35 days: it is applied when its subscription is linked, or when the missing ' +
      'mapping is made.',
  }),
  reasons: Type.Array(Type.Enum([...EVENT_REASONS]), {
    description:
      'Why it waits, was ignored, or was applied without its items. `older`: than an applied event, ' +
      'or than a change through this API. `given_up`: more than 20 newer ones of its subscription wait, or ' +
      '10,000 (32 MiB) of the environment.',
  }),
  processorSubscriptionId: Type.Optional(Type.String()),
  subscriptionId: Type.Optional(Type.String({ description: 'The subscription that is linked to it.' })),
  processorCustomerId: Type.Optional(Type.String({ description: 'While it waits.' })),
  customerName: Type.Optional(Type.String({ description: 'Its `metadata.customerId`, while it waits.' })),
  items: Type.Optional(
    Type.Array(Type.Object({ priceId: Type.String(), quantity: Type.Number() }), {
      description: 'While it waits.',
    }),
  ),
  missingPriceIds: Type.Array(Type.String(), { description: 'Its prices that are not mapped.' }),
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
      '`connect` needs `apiKey` and also takes `secret`; `set_webhook_secret` needs `secret`; `disconnect` ' +
      'forgets both, and is fine when nothing is connected. Both are stored encrypted and never returned. ' +
      'Nothing is called over the network.',
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
    summary: 'Whether the payment processor is connected',
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
    summary: 'List events of the payment processor about subscriptions, newest first',
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
    summary: 'Apply an unmatched event again',
    description:
      'Applies the events that wait for its subscription, in the order in which they happened there. Once ' +
      'a missing mapping is made this also happens by itself, within seconds. Nothing changes when the ' +
      'event does not wait any more.',
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
    summary: "Take an event of the payment processor: this is its webhook endpoint's address",
    description:
      'Signed as Stripe signs (`Stripe-Signature`), at most 5 minutes ago; `livemode` has to be that of ' +
      'the path. `customer.subscription.*` moves the subscription with that `processorSubscriptionId` ' +
      'to the status, period, `cancelAt`, `trialEnd`, plan and add-ons that the event shows, also where ' +
      'our own table knows no such transition: the processor is the truth. `pause_collection` makes it ' +
      "`paused`. Events are ordered by the processor's own time; within its second, creation comes " +
      'first and the end last, and otherwise the one that came later counts. An event older than a ' +
      'change through this API undoes nothing. Plan and add-ons are those with the `processorPriceIds` ' +
      'of its items. A subscription that is not linked is created where its customer is known ' +
      '(`processorCustomerId`, or `metadata.customerId`) and a price is that of a plan; else the event ' +
      'waits for 35 days, and is applied when a subscription is linked or the missing mapping is made. ' +
      'Events of a test clock are ordered among themselves. Replays, older events and other types ' +
      'change nothing and are answered 200 all the same.',
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
    summary: 'Removed on 2026-09-30: use GET /api/v1/webhooks/endpoints',
    params: Nothing,
    query: Nothing,
    status: 410,
    response: Type.Never(),
    errors: ['endpoint_removed'],
    deprecated: true,
  }),
};
