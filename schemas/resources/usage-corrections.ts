/** Corrections of usage that was counted: voids, amendments, and many voids at once. */
import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { CORRECTION_KINDS } from '../value-sets.ts';
import {
  Decimal,
  Name,
  NamedId,
  Nothing,
  optional,
  PageQuery,
  PlainValues,
  pageOf,
  Timestamp,
} from './fields.ts';
import { UsageEvent } from './usage-events.ts';

/** Of an environment: selections that are not finished. */
export const SELECTIONS_OPEN_MAX = 10;
/** In the response of a dry run. */
export const PREVIEWED_MAX = 1_000;

const Reason = Type.Optional(
  Type.String({ ...Name, description: 'Kept with the correction and in the audit log.' }),
);

export const UsageEventVoid = optional({ reason: Reason });

export const UsageEventAmendment = optional({
  value: Type.Unsafe<ExactNumber>({ ...Decimal, description: 'What is left out stays as it is.' }),
  occurredAt: Timestamp,
  customerId: Type.String({ ...NamedId, description: "The customer's id or your own `externalId`." }),
  meterId: Type.String({ ...NamedId, description: "The meter's key or id." }),
  properties: Type.Unsafe<Static<typeof PlainValues>>({
    ...PlainValues,
    description: 'All of them: they replace those of the event.',
  }),
  reason: Reason,
});
export type UsageEventAmendment = Static<typeof UsageEventAmendment>;

export const UsageEventCorrection = Type.Object({
  correctionId: Type.String(),
  voided: UsageEvent,
  event: Type.Optional(
    Type.Unsafe<Static<typeof UsageEvent>>({ ...UsageEvent, description: 'Of an amendment.' }),
  ),
});

export const UsageSelection = Type.Object({
  customerId: Type.Optional(Type.String({ ...NamedId, description: "The customer's id or `externalId`." })),
  meterId: Type.Optional(Type.String({ ...NamedId, description: "The meter's key or id." })),
  from: Timestamp,
  to: Timestamp,
  properties: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      ...Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), Type.String({ maxLength: 256 }), {
        maxProperties: 8,
      }),
      description: 'The text that each property must have; empty: events without it.',
    }),
  ),
});
export type UsageSelection = Static<typeof UsageSelection>;

export const NewUsageCorrection = Type.Object({
  select: UsageSelection,
  action: Type.Literal('void'),
  dryRun: Type.Optional(Type.Boolean({ description: 'Counts what it would void, and changes nothing.' })),
  reason: Reason,
});
export type NewUsageCorrection = Static<typeof NewUsageCorrection>;

export const UsageCorrection = Type.Object({
  id: Type.String(),
  kind: Type.Enum([...CORRECTION_KINDS]),
  status: Type.Enum(['running', 'completed', 'reverted'], {
    description:
      '`running`: nothing of it counts yet. `completed`: all of it counts, and has begun to at once. ' +
      '`reverted`: nothing of it counts.',
  }),
  voided: Type.Integer({ description: 'How many events it takes away; while it runs, so far.' }),
  select: Type.Optional(UsageSelection),
  eventId: Type.Optional(Type.String({ description: 'Of a single event: the voided one.' })),
  newEventId: Type.Optional(Type.String({ description: 'Of an amendment: the event in its place.' })),
  reason: Type.Optional(Type.String()),
  createdBy: Type.String({ description: 'The key that asked for it.' }),
  createdAt: Timestamp,
  completedAt: Type.Optional(Timestamp),
});
export type UsageCorrection = Static<typeof UsageCorrection>;

export const UsageCorrectionPreview = Type.Object({
  status: Type.Literal('preview'),
  events: Type.Integer(),
  customers: Type.Array(
    Type.Object({
      customerId: Type.String(),
      meterId: Type.String(),
      events: Type.Integer(),
      total: Decimal,
    }),
    { description: `By customer and meter, the most events first; ${PREVIEWED_MAX} at most.` },
  ),
  more: Type.Boolean({ description: 'There are more customers and meters than `customers` has.' }),
  asOf: Timestamp,
});

const EVENT_PATH = `${API_BASE}/usage/events/{usageEventId}` as const;
const PATH = `${API_BASE}/usage/corrections` as const;
const ofEvent = Type.Object({ usageEventId: NamedId });

export const usageCorrectionRoutes = {
  'usageCorrections.void': defineRoute({
    method: 'POST',
    path: `${EVENT_PATH}/void`,
    plane: 'control',
    access: 'usage:correct',
    summary: 'Void a usage event',
    description:
      'It stays in the list of events with the status `voided`, and counts nowhere: a strong read after ' +
      'the response is exact. A repeat of its idempotency key stays a duplicate. An event that is voided ' +
      'already has the same response again.',
    params: ofEvent,
    query: Nothing,
    commitsItself: true,
    body: UsageEventVoid,
    bodyOptional: true,
    example: { reason: 'Sent by a test.' },
    status: 200,
    response: UsageEventCorrection,
    errors: ['not_found', 'unavailable'],
  }),
  'usageCorrections.amend': defineRoute({
    method: 'POST',
    path: `${EVENT_PATH}/amend`,
    plane: 'control',
    access: 'usage:correct',
    summary: 'Replace a usage event by another one',
    description:
      'Voids the event and counts one new event in its place, at the same time. Again with the same ' +
      'members: the same response. An event that was voided otherwise is rejected; amend the event in its ' +
      'place.',
    params: ofEvent,
    query: Nothing,
    commitsItself: true,
    body: UsageEventAmendment,
    example: { value: 2, reason: 'Metered twice as much.' },
    status: 200,
    response: UsageEventCorrection,
    errors: [
      'not_found',
      'customer_not_found',
      'meter_not_found',
      'illegal_transition',
      'value_invalid',
      'event_in_future',
      'unavailable',
    ],
  }),
  'usageCorrections.create': defineRoute({
    method: 'POST',
    path: PATH,
    plane: 'control',
    access: 'usage:correct',
    summary: 'Void many usage events',
    description:
      'Starts a job that voids all selected events that were recorded before the request. They count until ' +
      'the job is completed, and then none of them does. With `dryRun` the response says what it would void.',
    params: Nothing,
    query: Nothing,
    commitsItself: true,
    body: NewUsageCorrection,
    example: {
      select: { customerId: 'acme', from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' },
      action: 'void',
      dryRun: true,
    },
    status: 202,
    response: UsageCorrection,
    otherwise: {
      status: 200,
      description: 'A dry run: what would be voided.',
      response: UsageCorrectionPreview,
    },
    errors: ['customer_not_found', 'meter_not_found', 'overloaded'],
  }),
  'usageCorrections.list': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'usage:correct',
    summary: 'List corrections of usage',
    description: 'Newest first.',
    params: Nothing,
    query: PageQuery,
    status: 200,
    response: pageOf(UsageCorrection),
    errors: [],
  }),
  'usageCorrections.retrieve': defineRoute({
    method: 'GET',
    path: `${PATH}/{correctionId}`,
    plane: 'control',
    access: 'usage:correct',
    summary: 'Retrieve a correction of usage, with its progress',
    params: Type.Object({ correctionId: NamedId }),
    query: Nothing,
    status: 200,
    response: UsageCorrection,
    errors: ['not_found'],
  }),
};
