import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../event-types.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

const EventTypes = Type.Array(Type.Enum([...EVENT_TYPES, '*']), {
  minItems: 1,
  maxItems: 64,
  description: 'Which types it is told; `*` is all of them, also those of later releases.',
});

const NewWebhookEndpoint = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2048,
    description: 'https, without credentials. Its name is resolved at each delivery, and not before.',
  }),
  events: EventTypes,
});

export const WebhookEndpoint = Type.Object({
  id: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  status: Type.Enum(['enabled', 'disabled']),
  createdAt: Timestamp,
});
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

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
    response: Type.Object({ data: Type.Array(WebhookEndpoint) }),
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
      'public are taken only where the server runs with `WEBHOOK_ALLOW_PRIVATE`. At most ' +
      `${ENDPOINTS_MAX} endpoints. This release records events (GET /webhooks/events) and delivers none ` +
      'yet; `usage.threshold`, `credit.*` and `entitlement.changed` do not happen yet.',
    params: Nothing,
    query: Nothing,
    body: NewWebhookEndpoint,
    example: { url: 'https://example.com/hooks', events: ['subscription.created', 'subscription.canceled'] },
    status: 201,
    response: Type.Object({ ...WebhookEndpoint.properties, secret: Type.String() }),
    errors: [],
  }),
  'webhookEvents.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/webhooks/events`,
    plane: 'control',
    access: 'webhooks:read',
    summary: 'List the events that happened, newest first, whether anybody was told or not',
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
