import { type Static, Type } from 'typebox';
import { EVENT_TYPES } from '../events.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { ATTEMPT_ERRORS } from '../stored/webhook-attempt.ts';
import { NamedId, Nothing, optional, PageQuery, pageOf, Timestamp } from './fields.ts';

const Status = Type.Enum(['pending', 'succeeded', 'failed', 'held'], {
  description:
    '`held`: its endpoint was disabled, and nothing is sent of it. `failed`: its ten attempts are over, ' +
    'or its endpoint was deleted. Both can be replayed while there is an enabled endpoint.',
});

const AttemptError = Type.Enum([...ATTEMPT_ERRORS]);

/** One event for one endpoint. */
export const WebhookDelivery = Type.Object({
  id: Type.String(),
  endpointId: Type.String(),
  eventId: Type.String({ description: 'The same for every attempt and every replay of an event.' }),
  eventType: Type.Enum([...EVENT_TYPES]),
  status: Status,
  attemptsMade: Type.Integer(),
  lastStatus: Type.Optional(Type.Integer({ description: 'The HTTP status of the last answer.' })),
  lastError: Type.Optional(AttemptError),
  lastAttemptAt: Type.Optional(Timestamp),
  nextAttemptAt: Type.Optional(
    Type.String({ ...Timestamp, description: 'Not before. A circuit that is open puts it off further.' }),
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
  requestHead: Type.String({ description: 'First line and headers. The body is the event, byte for byte.' }),
  responseHead: Type.Optional(Type.String({ description: 'First line and headers, up to 4 KiB.' })),
  responseBody: Type.Optional(
    Type.String({ description: 'Its first 4 KiB; what is no UTF-8, and U+0000, is shown as U+FFFD.' }),
  ),
});
export type WebhookAttempt = Static<typeof WebhookAttempt>;

export const WebhookDeliveryWithAttempts = Type.Object({
  ...WebhookDelivery.properties,
  attempts: Type.Array(WebhookAttempt),
});
export type WebhookDeliveryWithAttempts = Static<typeof WebhookDeliveryWithAttempts>;

export const WebhookReplay = Type.Object({
  from: Timestamp,
  to: Type.String({ ...Timestamp, description: 'Events of this moment are not part of it.' }),
  onlyFailed: Type.Optional(
    Type.Boolean({ default: false, description: 'Leaves out events of which a delivery has succeeded.' }),
  ),
});

/** What one call may send again: more takes more calls. */
export const REPLAYED_MAX = 10_000;

export const WebhookReplayResult = Type.Object({
  replayed: Type.Integer({ description: 'Events of which a new delivery was made.' }),
  hurried: Type.Integer({ description: 'Deliveries that waited for their next attempt and are due now.' }),
  nextFrom: Type.Optional(
    Type.String({ ...Timestamp, description: `Of more than ${REPLAYED_MAX} events: go on from here.` }),
  ),
});

export const WebhookTest = optional({
  type: Type.Enum([...EVENT_TYPES], { description: 'The first that the endpoint selected unless told.' }),
});

const OfEndpoint = Type.Object({ endpointId: NamedId });
const OfDelivery = Type.Object({ deliveryId: NamedId });

const common = { plane: 'control', status: 200 } as const;
const action = { ...common, method: 'POST', access: 'webhooks:write', query: Nothing } as const;

export const webhookDeliveryRoutes = {
  'webhookDeliveries.list': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/deliveries`,
    access: 'webhooks:read',
    summary: 'List what an endpoint was and is to be told, newest first',
    description: 'Deliveries are kept for 30 days.',
    params: OfEndpoint,
    query: Type.Object({ ...PageQuery.properties, status: Type.Optional(Status) }),
    response: pageOf(WebhookDelivery),
    errors: ['endpoint_not_found'],
  }),
  'webhookDeliveries.retrieve': defineRoute({
    ...common,
    method: 'GET',
    path: `${API_BASE}/webhooks/deliveries/{deliveryId}`,
    access: 'webhooks:read',
    summary: 'Read a delivery with its attempts',
    params: OfDelivery,
    query: Nothing,
    response: WebhookDeliveryWithAttempts,
    errors: ['not_found'],
  }),
  'webhookDeliveries.replay': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/deliveries/{deliveryId}/replay`,
    summary: 'Deliver an event once more',
    description:
      'Answers with a new delivery of the same event, with the same id and bytes and ten attempts of its ' +
      'own; the old one stays as it is. An event that is on its way to this endpoint is not doubled: the ' +
      'answer is then the delivery that is pending, and it is due at once. The endpoint has to be ' +
      'enabled.',
    params: OfDelivery,
    response: WebhookDelivery,
    errors: ['not_found', 'endpoint_not_found', 'illegal_transition'],
  }),
  'webhookEndpoints.replay': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/replay`,
    summary: 'Deliver the events of a time once more',
    description:
      'Of all events of that time that this endpoint was to be told, in their order, a new delivery each; ' +
      'those that are on their way are due at once. `onlyFailed` takes those that failed or were held, ' +
      `and never arrived. Of more than ${REPLAYED_MAX} the answer says where to go on. The endpoint has ` +
      'to be enabled.',
    params: OfEndpoint,
    body: WebhookReplay,
    example: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', onlyFailed: true },
    response: WebhookReplayResult,
    errors: ['endpoint_not_found', 'illegal_transition'],
  }),
  'webhookEndpoints.test': defineRoute({
    ...action,
    path: `${API_BASE}/webhooks/endpoints/{endpointId}/test`,
    summary: 'Send an event that did not happen to an endpoint, to try it',
    description:
      'Signed, delivered and retried as every event is, and to this endpoint alone, whatever it selected. ' +
      'Its id begins with `evt_testevent` and its data names objects that there are not (`cus_example`). ' +
      'It is read by its id, and is not in the list of events. The endpoint has to be enabled.',
    params: OfEndpoint,
    body: WebhookTest,
    bodyOptional: true,
    example: { type: 'customer.created' },
    response: WebhookDelivery,
    errors: ['endpoint_not_found', 'illegal_transition'],
  }),
};
