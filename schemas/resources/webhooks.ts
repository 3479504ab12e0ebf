import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

const EventTypes = Type.Array(Type.Enum([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: 64,
  description: 'Which types it is told; `*` is all of them, also those of later releases.',
});

export const NewWebhookEndpoint = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'https, without credentials. Its name is resolved at each delivery, and not before.',
  }),
  events: EventTypes,
});

const Status = Type.Enum(['enabled', 'disabled'], {
  description: 'Of a disabled one deliveries are recorded as `held`, and nothing is sent.',
});

export const WebhookEndpoint = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Status,
  disabledReason: Type.Optional(
    Type.Enum(['gone', 'failing'], {
      description: '`gone`: it answered 410. `failing`: for 5 days nothing it was sent arrived.',
    }),
  ),
  createdAt: Timestamp,
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

export const WebhookEndpointList = Type.Object({ data: Type.Array(WebhookEndpoint) });

/** The only answers that hold a signing secret. */
export const WebhookEndpointWithSecret = Type.Object({
  ...WebhookEndpoint.properties,
  secret: Type.String({ description: 'What deliveries are signed with. It is shown this once.' }),
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
    description: 'How long the old secret signs beside the new one: a day unless told, 7 days at most.',
  }),
});

/** What a delivery carries, byte for byte. Source: the specification, Events. */
export const EventEnvelope = Type.Object({
  id: Type.String(),
  type: Type.Enum([...EVENT_TYPES]),
  workspace_id: Type.String(),
  created_at: Timestamp,
  data: Type.Object({}),
});
export type EventEnvelope = Static<typeof EventEnvelope>;

/** Without paging: a list that is never longer. */
export const ENDPOINTS_MAX = 100;

const Params = Type.Object({ endpointId: NamedId });
const one = { plane: 'control', params: Params, query: Nothing } as const;

export const webhookRoutes = {
  listWebhookEndpoints: defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/endpoints`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'List the endpoints that are told of events, newest first',
    params: Nothing,
    query: Nothing,
    status: 200,
    response: WebhookEndpointList,
    errors: [],
  }),
  createWebhookEndpoint: defineRoute({
    method: 'POST',
    path: `${API_BASE}/webhooks/endpoints`,
    plane: 'control',
    access: 'webhooks:write',
    summary: 'Register an endpoint to be told of events',
    description:
      'The answer shows the signing `secret`, once. An http `url`, `localhost` and addresses that are not ' +
      'public are taken only where `WEBHOOK_ALLOW_PRIVATE` of the server allows them: by default loopback ' +
      `addresses, in test mode, on a server that listens on one. At most ${ENDPOINTS_MAX} endpoints. ` +
      'It is told of events from now on. docs/use/webhooks.md says how to verify a delivery.',
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
    summary: 'Read an endpoint, without its secret',
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
    summary: 'Change an endpoint, disable or enable it',
    description:
      'What is left out stays. `events` counts for events from now on. To enable it, or to give it ' +
      'another `url`, forgets its failures: what is pending is tried at its own time again. What was held ' +
      'meanwhile stays held until it is replayed.',
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
    summary: 'Delete an endpoint: it is told of nothing any more',
    description: 'An attempt in flight may still arrive. What was pending or held is not sent.',
    status: 204,
    response: Nothing,
    errors: ['endpoint_not_found', 'precondition_failed'],
  }),
  'webhookEndpoints.rotateSecret': defineRoute({
    ...one,
    method: 'POST',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/rotate-secret`,
    access: 'webhooks:write',
    summary: 'Replace the signing secret of an endpoint',
    description:
      'The answer shows the new one, once. Up to the end of the overlap every delivery is signed with ' +
      'both, so that a receiver may know either. There is one old secret at most: a rotation within the ' +
      'overlap of another ends the oldest; 0 ends the old one at once.',
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
    summary: 'List the events that happened, newest first, whether anybody was told or not',
    description:
      '`entitlement.changed` comes for each feature of a customer whose value is another one than was told ' +
      'last: of few customers with the change itself, of many subscribers of a plan within seconds of it. ' +
      'A feature that is no longer held has `allowed` false and the `effectiveValue` false or 0; null is ' +
      'unlimited.',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      type: Type.Optional(Type.Enum([...EVENT_TYPES])),
      from: Type.Optional(Timestamp),
      to: Type.Optional({ ...Timestamp, description: 'Events of this moment are not part of it.' }),
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
    summary: 'Read an event',
    params: Type.Object({ eventId: NamedId }),
    query: Nothing,
    status: 200,
    response: EventEnvelope,
    etag: true,
    errors: ['not_found'],
  }),
};
