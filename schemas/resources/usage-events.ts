/** Sending usage. The data plane serves these operations and parses their bodies itself. */
import { Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { USAGE_LIMITS } from '../usage-limits.ts';
import { Decimal, HEADER_KEY_PATTERN, NamedId, Nothing, optional, PlainValues, Timestamp } from './fields.ts';

export const UsageEvent = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  meterId: Type.String({ description: "The meter's key." }),
  eventName: Type.Literal('usage.recorded'),
  value: Decimal,
  status: Type.Union([Type.Literal('recorded'), Type.Literal('voided')], {
    description: '`voided`: it was taken away by a correction and counts no more.',
  }),
  occurredAt: Timestamp,
  createdAt: Timestamp,
  properties: Type.Optional(PlainValues),
  supersedes: Type.Optional(Type.String({ description: 'The voided event in whose place it counts.' })),
  supersededBy: Type.Optional(
    Type.String({ description: 'Of a voided event: the event that counts in its place.' }),
  ),
});

const IdempotencyKey = Type.String({ minLength: 1, maxLength: USAGE_LIMITS.idempotencyKeyCharsMax });

const VALUE =
  'At most 15 integer digits. Rounded half to even to 12 fraction digits before it is stored; with ' +
  '`Prefer: handling=strict` a value with more fraction digits is rejected.';
const OCCURRED_AT =
  'RFC 3339 with any offset. Seconds can be left out, a space can replace the T, and +0000 is accepted. ' +
  'Default: now.';

const eventFields = {
  customerId: Type.String({ ...NamedId, description: "The customer's id or your own `externalId`." }),
  meterId: Type.String({
    ...NamedId,
    description:
      "The meter's key. An unknown key creates a `sum` meter, unless the workspace has `strictMeters`.",
  }),
  value: Type.Unsafe<ExactNumber>({ ...Decimal, description: VALUE }),
  occurredAt: Type.Optional(Type.String({ ...Timestamp, description: OCCURRED_AT })),
  properties: Type.Optional(PlainValues),
};

export const NewUsageEvent = Type.Object({
  ...eventFields,
  idempotencyKey: Type.Optional(
    Type.String({
      ...IdempotencyKey,
      description:
        'Alternative to the `Idempotency-Key` header. Required for a key with characters other than ' +
        'visible ASCII.',
    }),
  ),
});

export const UsageEventBatchItem = Type.Object({ ...eventFields, idempotencyKey: IdempotencyKey });

export const UsageEventBatch = Type.Object({
  events: Type.Array(UsageEventBatchItem, { maxItems: USAGE_LIMITS.batchItemsMax }),
});

/** The same batch as newline-delimited JSON. */
export const UsageEventLines = Type.String({
  format: 'binary',
  contentMediaType: 'application/x-ndjson',
  contentSchema: UsageEventBatchItem,
  description:
    `One \`UsageEventBatchItem\` as JSON per line, at most ${USAGE_LIMITS.batchItemsMax} lines, ` +
    'separated by line feeds. Results are in the order of the lines.',
});

export const UsageEventBatchItemResult = Type.Object({
  index: Type.Integer(),
  idempotencyKey: Type.String(),
  status: Type.Enum(['created', 'duplicate', 'error']),
  eventId: Type.Optional(Type.String()),
  event: Type.Optional(UsageEvent),
  error: Type.Optional(
    Type.Object({ code: Type.String(), message: Type.String(), param: Type.Optional(Type.String()) }),
  ),
});

export const UsageEventBatchResult = Type.Object({
  summary: Type.Object({
    total: Type.Integer(),
    created: Type.Integer(),
    duplicate: Type.Integer(),
    errors: Type.Integer(),
  }),
  results: Type.Array(UsageEventBatchItemResult),
});

const BATCH_ITEM = { idempotencyKey: 'req-1', customerId: 'acme', meterId: 'api_calls', value: 3 };

const BackfillId = Type.String({
  description:
    'An open backfill: its events are acknowledged and deduplicated like all others, and count once it is ' +
    'closed.',
});

export const usageEventRoutes = {
  'usage.submit': defineRoute({
    method: 'POST',
    path: `${API_BASE}/usage/events`,
    plane: 'data',
    access: 'usage:write',
    summary: 'Record one usage event',
    description:
      'An idempotency key identifies an event forever: a repeated request returns the first event and is ' +
      'not counted again. Send the key in the `Idempotency-Key` header, or in the body as ' +
      '`idempotencyKey`; if both are sent, they must be equal.',
    params: Nothing,
    query: optional({ backfillId: BackfillId }),
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(Type.String({ ...IdempotencyKey, pattern: HEADER_KEY_PATTERN })),
    }),
    body: NewUsageEvent,
    example: { customerId: 'acme', meterId: 'api_calls', value: 3, properties: { region: 'eu' } },
    status: 201,
    response: UsageEvent,
    errors: [
      'idempotency_key_missing',
      'idempotency_key_invalid',
      'customer_not_found',
      'meter_not_found',
      'customer_archived',
      'meter_archived',
      'idempotency_key_reused',
      'value_invalid',
      'event_too_old',
      'event_in_future',
      'not_found',
      'illegal_transition',
      'overloaded',
    ],
  }),
  'usage.submitBatch': defineRoute({
    method: 'POST',
    path: `${API_BASE}/usage/events/batch`,
    plane: 'data',
    access: 'usage:write',
    summary: 'Record up to 500 usage events',
    description:
      'Each item succeeds or fails on its own. The body is JSON or newline-delimited JSON, optionally ' +
      'with gzip.',
    params: Nothing,
    query: optional({ include: Type.Literal('events'), backfillId: BackfillId }),
    body: UsageEventBatch,
    example: { events: [BATCH_ITEM] },
    bodyTexts: {
      'application/x-ndjson': {
        schema: UsageEventLines,
        example: [BATCH_ITEM, { ...BATCH_ITEM, idempotencyKey: 'req-2' }]
          .map((item) => `${JSON.stringify(item)}\n`)
          .join(''),
      },
    },
    status: 200,
    response: UsageEventBatchResult,
    errors: ['batch_too_large', 'not_found', 'illegal_transition', 'overloaded'],
  }),
};
