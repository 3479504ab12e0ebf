import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';
import { AttemptError } from './webhook-deliveries.ts';

const EventTypes = Type.Array(Type.Enum([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: 64,
  description: 'The event types to deliver; `*` is all types, including those of later releases.',
});

export const NewWebhookEndpoint = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'An https URL without credentials. The host name is resolved for each delivery.',
  }),
  events: EventTypes,
});

const Status = Type.Enum(['enabled', 'disabled'], {
  description: '`disabled`: nothing is sent; deliveries are recorded as `held`.',
});

export const WebhookEndpoint = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Status,
  disabledReason: Type.Optional(
    Type.Enum(['gone', 'failing'], {
      description: '`gone`: the endpoint responded with 410. `failing`: all attempts of 5 days failed.',
    }),
  ),
  createdAt: Timestamp,
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointList = Type.Object({ data: Type.Array(WebhookEndpoint) });

/** An enabled endpoint whose last attempts failed. */
export const FailingWebhookEndpoint = Type.Object({
  endpointId: Type.String(),
  url: Type.String(),
  failures: Type.Integer({ description: 'Attempts that failed in a row.' }),
  failingSince: Type.String({ ...Timestamp, description: 'The end of the first of them.' }),
  lastStatus: Type.Optional(Type.Integer({ description: 'The HTTP status of the last response.' })),
  lastError: Type.Optional(AttemptError),
  pausedUntil: Type.Optional(
    Type.String({
      ...Timestamp,
      description:
        'While the circuit breaker is open: when the next delivery is tried. The others wait until one succeeds.',
    }),
  ),
});
export type FailingWebhookEndpoint = Static<typeof FailingWebhookEndpoint>;

export const FailingWebhookEndpointList = Type.Object({ data: Type.Array(FailingWebhookEndpoint) });

/** The only responses that contain a signing secret. */
export const WebhookEndpointWithSecret = Type.Object({
  ...WebhookEndpoint.properties,
  secret: Type.String({ description: 'The signing secret of deliveries. It is returned only once.' }),
});

export const RotatedWebhookEndpoint = Type.Object({
  ...WebhookEndpointWithSecret.properties,
  previousSecretUntil: Type.Optional(Timestamp),
});

export const WebhookEndpointPatch = optional({ ...NewWebhookEndpoint.properties, status: Status });

const OVERLAP_SECONDS_MAX = 604_800;

export const WebhookSecretRotation = optional({
  overlapSeconds: Type.Integer({
    minimum: 0,
    maximum: OVERLAP_SECONDS_MAX,
    description:
      'Seconds for which deliveries are signed with the old secret too. Default: one day. Maximum: 7 days.',
  }),
});

/** The body of a delivery, byte for byte. */
export const EventEnvelope = Type.Object({
  id: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  workspace_id: Type.String(),
  created_at: Timestamp,
  data: Type.Object({}),
});
export type EventEnvelope = Static<typeof EventEnvelope>;

/** The list has no pages. */
export const ENDPOINTS_MAX = 100;

const Params = Type.Object({ endpointId: NamedId });
const one = { plane: 'control', params: Params, query: Nothing } as const;

export const webhookRoutes = {
  listWebhookEndpoints: defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/endpoints`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'List webhook endpoints, newest first',
    params: Nothing,
    query: Nothing,
    status: 200,
    response: WebhookEndpointList,
    errors: [],
  }),
  'webhookEndpoints.listFailing': defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/failing-endpoints`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'List the webhook endpoints that fail now',
    description:
      'Enabled endpoints whose last attempt failed, those that have failed longest first. An endpoint ' +
      'leaves the list with its next success, or when it is enabled again or gets another `url`.',
    params: Nothing,
    query: Nothing,
    status: 200,
    response: FailingWebhookEndpointList,
    errors: [],
  }),
  createWebhookEndpoint: defineRoute({
    method: 'POST',
    path: `${API_BASE}/webhooks/endpoints`,
    plane: 'control',
    access: 'webhooks:write',
    summary: 'Create a webhook endpoint',
    description:
      'The response contains the signing `secret`, once. The endpoint gets events that happen from now ' +
      'on. An http `url`, `localhost` and addresses that are not public are accepted only if the server ' +
      'allows them (`WEBHOOK_ALLOW_PRIVATE`); by default it allows loopback addresses in test mode when ' +
      `it listens on one itself. An environment has at most ${ENDPOINTS_MAX} endpoints. To verify a ` +
      'delivery, see docs/use/webhooks.md.',
    params: Nothing,
    query: Nothing,
    body: NewWebhookEndpoint,
    example: {
      url: 'https://receiver.example/hooks',
      events: ['subscription.created', 'subscription.canceled'],
    },
    status: 201,
    response: WebhookEndpointWithSecret,
    errors: [],
  }),
  'webhookEndpoints.retrieve': defineRoute({
    ...one,
    method: 'GET',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}`,
    access: 'webhooks:read',
    summary: 'Retrieve a webhook endpoint, without its secret',
    status: 200,
    response: WebhookEndpoint,
    etag: true,
    errors: ['endpoint_not_found'],
  }),
  'webhookEndpoints.update': defineRoute({
    ...one,
    method: 'PATCH',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}`,
    access: 'webhooks:write',
    summary: 'Update, disable or enable a webhook endpoint',
    description:
      'Fields left out keep their values. A change of `events` applies to events that happen from now ' +
      'on. Enabling the endpoint or changing its `url` clears its failures; pending deliveries are sent ' +
      'at their scheduled time. Held deliveries stay held until they are replayed.',
    body: WebhookEndpointPatch,
    example: { events: ['plan.published'] },
    status: 200,
    response: WebhookEndpoint,
    etag: true,
    errors: ['endpoint_not_found', 'precondition_failed'],
  }),
  'webhookEndpoints.delete': defineRoute({
    ...one,
    method: 'DELETE',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}`,
    access: 'webhooks:write',
    summary: 'Delete a webhook endpoint',
    description: 'An attempt in flight can still arrive. Pending and held deliveries are not sent.',
    status: 204,
    response: Nothing,
    errors: ['endpoint_not_found', 'precondition_failed'],
  }),
  'webhookEndpoints.rotateSecret': defineRoute({
    ...one,
    method: 'POST',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/rotate-secret`,
    access: 'webhooks:write',
    summary: 'Rotate the signing secret of a webhook endpoint',
    description:
      'The response contains the new secret, once. During `overlapSeconds` every delivery is signed with ' +
      'both secrets, so that receivers can switch at any time. At most one old secret is valid: a second ' +
      'rotation within the overlap ends the oldest secret. With 0 the old secret ends at once.',
    body: WebhookSecretRotation,
    bodyOptional: true,
    example: { overlapSeconds: 3600 },
    status: 200,
    response: RotatedWebhookEndpoint,
    errors: ['endpoint_not_found'],
  }),
  'webhookEvents.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/events`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'List webhook events, newest first',
    description:
      'Includes events that no endpoint selected. `entitlement.changed` is created for each feature of a ' +
      'customer whose value differs from the last one that was sent: with the change if it affects few ' +
      'customers, within seconds after a change that affects the many subscribers of a plan. A feature ' +
      'that the customer no longer has is sent with `allowed` false and `effectiveValue` false or 0; ' +
      'null is unlimited.',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      type: Type.Optional(Type.Enum([...EVENT_TYPES])),
      from: Type.Optional(Timestamp),
      to: Type.Optional({ ...Timestamp, description: 'Exclusive.' }),
    }),
    status: 200,
    response: pageOf(EventEnvelope),
    errors: [],
  }),
  'webhookEvents.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/events/{eventId}`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'Retrieve a webhook event',
    params: Type.Object({ eventId: NamedId }),
    query: Nothing,
    status: 200,
    response: EventEnvelope,
    etag: true,
    errors: ['not_found'],
  }),
};
