import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { ATTEMPT_ERRORS } from '../stored/webhook-attempt.ts';
import { NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

const STATUSES = ['pending', 'succeeded', 'failed', 'held'] as const;

const Status = Type.Enum([...STATUSES], {
  description:
    '`pending`: attempts follow. `succeeded`: an attempt got a 2xx response. `held`: the endpoint was ' +
    'disabled and no attempt is made. `failed`: ten attempts failed, or the endpoint was deleted. `held` ' +
    'and `failed` deliveries can be replayed while the endpoint is enabled.',
});

/** What lists filter by. */
export const DELIVERY_FILTERS = [...STATUSES, 'undelivered', 'retrying'] as const;

const Filter = Type.Enum([...DELIVERY_FILTERS], {
  description:
    'A status; `undelivered`: all but those that succeeded or were replayed; or `retrying`: `pending` ' +
    'after an attempt that failed.',
});
export type DeliveryFilter = Static<typeof Filter>;

export const AttemptError = Type.Enum([...ATTEMPT_ERRORS]);

/** One event for one endpoint. */
export const WebhookDelivery = Type.Object({
  id: Type.String(),
  endpointId: Type.String(),
  eventId: Type.String({ description: 'The id of the event, the same in every attempt and replay.' }),
  eventType: Type.Enum([...EVENT_TYPES]),
  status: Status,
  attemptsMade: Type.Integer(),
  lastStatus: Type.Optional(Type.Integer({ description: 'The HTTP status of the last response.' })),
  lastError: Type.Optional(AttemptError),
  lastAttemptAt: Type.Optional(Timestamp),
  nextAttemptAt: Type.Optional(
    Type.String({
      ...Timestamp,
      description: 'The earliest time of the next attempt. An open circuit breaker delays it further.',
    }),
  ),
  replayedAs: Type.Optional(
    Type.String({ description: 'Of a `failed` or `held` delivery: the one that a replay created for it.' }),
  ),
  createdAt: Timestamp,
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;

export const WebhookAttempt = Type.Object({
  number: Type.Integer(),
  startedAt: Timestamp,
  durationMs: Type.Integer(),
  status: Type.Optional(Type.Integer()),
  errorCode: Type.Optional(AttemptError),
  requestHead: Type.String({
    description: 'Request line and headers. The body is `requestBody`.',
  }),
  responseHead: Type.Optional(Type.String({ description: 'Status line and headers, up to 4 KiB.' })),
  responseBody: Type.Optional(
    Type.String({
      description:
        'The first 4 KiB of the response body. Bytes that are not UTF-8, and U+0000, are shown as U+FFFD.',
    }),
  ),
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookDeliveryWithAttempts = Type.Object({
  ...WebhookDelivery.properties,
  requestBody: Type.String({ description: 'The event as every attempt sends it, byte for byte.' }),
  attempts: Type.Array(WebhookAttempt),
});
export type WebhookDeliveryWithAttempts = Static<typeof WebhookDeliveryWithAttempts>;

export const WebhookReplay = Type.Object({
  from: Timestamp,
  to: Type.String({ ...Timestamp, description: 'Exclusive.' }),
  onlyFailed: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether to leave out events with a successful delivery.' }),
  ),
});

/** Events that one call replays at most; more need more calls. */
export const REPLAYED_MAX = 10_000;

export const WebhookReplayResult = Type.Object({
  replayed: Type.Integer({ description: 'Events for which a new delivery was created.' }),
  hurried: Type.Integer({ description: 'Pending deliveries whose next attempt is now due at once.' }),
  nextFrom: Type.Optional(
    Type.String({
      ...Timestamp,
      description: `Present when there are more than ${REPLAYED_MAX} events: the \`from\` of the next call.`,
    }),
  ),
});

export const WebhookTest = optional({
  type: Type.Enum([...EVENT_TYPES], { description: 'Default: the first type that the endpoint selected.' }),
});

const OfEndpoint = Type.Object({ endpointId: NamedId });
const OfDelivery = Type.Object({ deliveryId: NamedId });

const common = { plane: 'control', status: 200 } as const;
const action = { ...common, method: 'POST', access: 'webhooks:write', query: Nothing } as const;

export const WebhookDeliveryList = Type.Object({
  data: Type.Array(WebhookDelivery),
  nextCursor: Type.Optional(
    Type.String({ description: 'The cursor of the next page. Left out on the last page.' }),
  ),
});

export const webhookDeliveryRoutes = {
  'webhookDeliveries.listAll': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/webhooks/deliveries`,
    access: 'webhooks:read',
    summary: 'List the deliveries of all endpoints, newest first',
    description: 'Deliveries are stored for 30 days, also those of deleted endpoints.',
    params: Nothing,
    query: Type.Object({
      status: Type.Optional(Filter),
      endpointId: Type.Optional(NamedId),
      type: Type.Optional(Type.Enum([...EVENT_TYPES], { description: 'Of the event.' })),
      from: Type.Optional(Type.String({ ...Timestamp, description: 'from ≤ `createdAt` of the delivery.' })),
      to: Type.Optional(Type.String({ ...Timestamp, description: '`createdAt` of the delivery < to.' })),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
    response: WebhookDeliveryList,
    errors: ['endpoint_not_found'],
  }),
  'webhookDeliveries.list': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/deliveries`,
    access: 'webhooks:read',
    summary: 'List the deliveries of an endpoint, newest first',
    description: 'Deliveries are stored for 30 days.',
    params: OfEndpoint,
    query: Type.Object({ ...PageQuery.properties, status: Type.Optional(Filter) }),
    response: pageOf(WebhookDelivery),
    errors: ['endpoint_not_found'],
  }),
  'webhookDeliveries.retrieve': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/webhooks/deliveries/{deliveryId}`,
    access: 'webhooks:read',
    summary: 'Retrieve a delivery with its attempts',
    params: OfDelivery,
    query: Nothing,
    response: WebhookDeliveryWithAttempts,
    errors: ['not_found'],
  }),
  'webhookDeliveries.replay': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/deliveries/{deliveryId}/replay`,
    summary: 'Replay a delivery',
    description:
      'Creates a new delivery of the same event, with the same event id and bytes and ten attempts of ' +
      'its own; the old delivery shows it in `replayedAs`. If the event already has a pending delivery to this ' +
      'endpoint, the response is that delivery. Its next attempt is made at once, also while an open ' +
      'circuit breaker delays others. The endpoint must be enabled; otherwise the error is ' +
      '`illegal_transition`.',
    params: OfDelivery,
    response: WebhookDelivery,
    errors: ['not_found', 'endpoint_not_found', 'illegal_transition'],
  }),
  'webhookEndpoints.replay': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/replay`,
    summary: 'Replay the events of a period to an endpoint',
    description:
      'Creates a new delivery for each event of the period that the endpoint had a delivery of, in the ' +
      'order of the events. Pending deliveries become due at once; an open circuit breaker still delays ' +
      'them. With `onlyFailed`, only events whose ' +
      `deliveries failed or were held, and none succeeded. One call replays at most ${REPLAYED_MAX} ` +
      'events; call again with `from` set to `nextFrom`. The endpoint must be enabled; otherwise the ' +
      'error is `illegal_transition`.',
    params: OfEndpoint,
    body: WebhookReplay,
    example: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', onlyFailed: true },
    response: WebhookReplayResult,
    errors: ['endpoint_not_found', 'illegal_transition'],
  }),
  'webhookEndpoints.test': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/test`,
    summary: 'Send a test event to an endpoint',
    description:
      'The test event is signed, delivered and retried like any other, but only to this endpoint, ' +
      'whether it selected the type or not. Its id begins with `evt_testevent`, and its data refers to ' +
      'objects that do not exist (`cus_example`). It can be retrieved by its id and is not in the list ' +
      'of events. The endpoint must be enabled; otherwise the error is `illegal_transition`.',
    params: OfEndpoint,
    body: WebhookTest,
    bodyOptional: true,
    example: { type: 'customer.created' },
    response: WebhookDelivery,
    errors: ['endpoint_not_found', 'illegal_transition'],
  }),
};
