import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, ruled } from './fields.ts';

/** Printable ASCII without spaces: what came along from a copied line is told and not stored. */
const SecretText = {
  minLength: 8,
  maxLength: 255,
  ...ruled('^[\\x21-\\x7e]+$', 'must hold visible ASCII characters only, no spaces'),
} as const;

const ProcessorAction = Type.Object({
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

const ProcessorConnection = Type.Object({
  connected: Type.Boolean(),
  keyLast4: Type.Optional(Type.String()),
  webhookSecretSet: Type.Boolean(),
});
export type ProcessorConnection = Static<typeof ProcessorConnection>;

/** As much of the processor's event as is looked at. */
const SignedEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  created: Type.Integer({ description: 'Unix seconds.' }),
  data: Type.Object({ object: Type.Object({}) }),
});

export const integrationRoutes = {
  connectProcessor: defineRoute({
    method: 'POST',
    path: `${API_BASE}/integrations/processor`,
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
    response: Type.Object({ ok: Type.Boolean() }),
    errors: [],
  }),
  'processor.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/integrations/processor`,
    plane: 'control',
    access: 'integrations:manage',
    summary: 'Whether the payment processor is connected',
    params: Nothing,
    query: Nothing,
    status: 200,
    response: ProcessorConnection,
    errors: [],
  }),
  'processor.receiveEvent': defineRoute({
    method: 'POST',
    path: `${API_BASE}/integrations/processor/webhooks/{workspaceId}/{mode}`,
    plane: 'control',
    access: 'signature',
    summary: "Take an event of the payment processor: this is its webhook endpoint's address",
    description:
      'Signed as Stripe signs (`Stripe-Signature`), at most 5 minutes ago. `customer.subscription.*` moves ' +
      'the subscription with that `processorSubscriptionId` to the status, period, `cancelAt` and ' +
      '`trialEnd` that the event shows, also where our own table knows no such transition: the processor ' +
      "is the truth. Events are ordered by the processor's own time; within its second, creation comes " +
      'first and the end last, and otherwise the one that came later counts. Replays, older events, other ' +
      'types and subscriptions that are not known here change nothing and are answered 200 all the same.',
    params: Type.Object({
      workspaceId: NamedId,
      mode: Type.String({ ...NamedId, description: '`live` or `test`.' }),
    }),
    query: Nothing,
    headers: Type.Object({ 'Stripe-Signature': Type.String({ description: '`t=<unix seconds>,v1=<hex>`' }) }),
    body: SignedEvent,
    example: {
      id: 'evt_1',
      type: 'customer.subscription.updated',
      created: 1767225600,
      data: { object: {} },
    },
    status: 200,
    response: Type.Object({ received: Type.Boolean() }),
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
