/** Events in the formats of other systems. The data plane serves these operations and parses their bodies. */
import { Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { USAGE_LIMITS } from '../usage-limits.ts';
import { Nothing, Timestamp } from './fields.ts';

const Text = Type.String({ minLength: 1, maxLength: 1024 });

/** A CloudEvent 1.0 in the JSON format. */
export const CloudEvent = Type.Object({
  specversion: Type.Literal('1.0'),
  id: Type.String({ ...Text, description: 'With `source` it identifies the event forever.' }),
  source: Text,
  type: Type.String({
    minLength: 1,
    maxLength: 256,
    description: 'The event is counted by the meters whose `eventSource.eventType` is this.',
  }),
  subject: Type.String({
    minLength: 1,
    maxLength: USAGE_LIMITS.idCharsMax,
    description: "The customer's id or your own `externalId`.",
  }),
  time: Type.Optional(Type.String({ ...Timestamp, description: 'When it occurred. Default: now.' })),
  data: Type.Optional(Type.Unknown({ description: 'JSON. What of it is counted, each meter states.' })),
});

export const CloudEvents = Type.Array(CloudEvent, { maxItems: USAGE_LIMITS.foreignEventsMax });

const ItemError = Type.Object({
  code: Type.String(),
  message: Type.String(),
  param: Type.Optional(Type.String()),
});

export const CloudEventResult = Type.Object({
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  source: Type.Optional(Type.String()),
  status: Type.Enum(['created', 'duplicate', 'unmetered', 'error'], {
    description: '`unmetered`: no meter counts the event, and nothing of it is kept.',
  }),
  usageEvents: Type.Array(
    Type.Object({
      meterId: Type.String({ description: "The meter's key." }),
      status: Type.Enum(['created', 'duplicate', 'error']),
      eventId: Type.Optional(Type.String()),
      error: Type.Optional(ItemError),
    }),
  ),
  error: Type.Optional(ItemError),
});

export const CloudEventResults = Type.Object({
  summary: Type.Object({
    total: Type.Integer(),
    created: Type.Integer(),
    duplicate: Type.Integer(),
    unmetered: Type.Integer(),
    errors: Type.Integer(),
  }),
  results: Type.Array(CloudEventResult),
});

/** What of an ExportLogsServiceRequest of OTLP matters. */
export const LogsExport = Type.Object({ resourceLogs: Type.Array(Type.Object({})) });

export const LogsExported = Type.Object({
  partialSuccess: Type.Optional(
    Type.Object({ rejectedLogRecords: Type.String(), errorMessage: Type.String() }),
  ),
});

const EXAMPLE = {
  specversion: '1.0',
  id: '5c10fade-1c9e-4d6c-8275-c52c36731d3c',
  source: '/gateway',
  type: 'prompt',
  subject: 'acme',
  time: '2026-11-01T00:00:00Z',
  data: { tokens: 123, model: 'large' },
};

export const cloudEventRoutes = {
  'events.ingest': defineRoute({
    method: 'POST',
    path: `${API_BASE}/events`,
    plane: 'data',
    access: 'usage:write',
    summary: 'Record CloudEvents',
    description:
      'CloudEvents 1.0, one or an array of up to 10,000, as OpenMeter takes them. Each event becomes one ' +
      'usage event on every meter whose `eventSource` it matches. 204: each event is counted, was counted ' +
      'before, or is counted by no meter (their number is in `X-Unmetered-Events`). If an event is ' +
      'rejected the response is an error that names it; the others are counted and may be sent again. ' +
      'With `Accept: application/json` the response is 200 with a result for each event. In binary mode ' +
      'the attributes are headers (`ce-id`, …) and the body is the data.',
    params: Nothing,
    query: Nothing,
    body: CloudEvent,
    example: EXAMPLE,
    bodyTexts: {
      'application/cloudevents+json': { schema: CloudEvent, example: JSON.stringify(EXAMPLE) },
      'application/cloudevents-batch+json': { schema: CloudEvents, example: JSON.stringify([EXAMPLE]) },
    },
    status: 204,
    response: Nothing,
    furtherMediaTypes: { 'application/json': CloudEventResults },
    errors: [
      'batch_too_large',
      'customer_not_found',
      'meter_not_found',
      'customer_archived',
      'meter_archived',
      'idempotency_key_reused',
      'value_invalid',
      'event_too_old',
      'event_in_future',
      'overloaded',
    ],
  }),
  'events.ingestLogs': defineRoute({
    method: 'POST',
    path: `${API_BASE}/otlp/v1/logs`,
    plane: 'data',
    access: 'usage:write',
    summary: 'Record log records of OpenTelemetry',
    description:
      'OTLP over HTTP in JSON: point the logs endpoint of an exporter here. A record with an event name is ' +
      'counted by the meters whose `eventSource.eventType` it is; all others are accepted and not kept. ' +
      'Its attribute `log.record.uid` identifies it together with the `service.name` of its resource, and ' +
      '`metergate.customer`, else `user.id`, is the customer. The data are its attributes, and `body` and ' +
      '`resource`. Rejected records are counted in `partialSuccess`.',
    params: Nothing,
    query: Nothing,
    body: LogsExport,
    example: {
      resourceLogs: [
        {
          resource: { attributes: [] },
          scopeLogs: [{ logRecords: [{ eventName: 'prompt', attributes: [] }] }],
        },
      ],
    },
    status: 200,
    response: LogsExported,
    errors: ['batch_too_large', 'overloaded'],
  }),
};
