/** Amounts of metered features that are held until they are used, released or expire. */
import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { consistency, EntitlementDecision } from './entitlements.ts';
import { Decimal, NamedId, Nothing, PageQuery, PlainValues, pageOf, Timestamp } from './fields.ts';

const EXPIRES_SECONDS_MAX = 86_400;
export const EXPIRES_SECONDS = 300;
/** How long a reservation that has ended is kept. */
export const RESERVATION_KEPT_DAYS = 30;

export const RESERVATION_STATUSES = ['held', 'released', 'expired'] as const;
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number];

const Amount = Type.Unsafe<ExactNumber>({ ...Decimal, exclusiveMinimum: 0 });
const ExpiresInSeconds = Type.Integer({ minimum: 1, maximum: EXPIRES_SECONDS_MAX });
const OnExpiry = Type.Enum(['release']);

export const NewReservation = Type.Object({
  customerId: Type.String({ ...NamedId, description: "The customer's id or your own `externalId`." }),
  featureKey: Type.Optional(
    Type.String({ ...NamedId, description: 'The key or id of a metered feature. Or send `meterId`.' }),
  ),
  meterId: Type.Optional(
    Type.String({
      ...NamedId,
      description: 'The key or id of a meter that exactly one feature of the customer counts.',
    }),
  ),
  amount: Type.Unsafe<ExactNumber>({ ...Amount, description: 'How much is to be held, above 0.' }),
  expiresInSeconds: Type.Optional(
    Type.Integer({ ...ExpiresInSeconds, description: `Default: ${EXPIRES_SECONDS}.` }),
  ),
  onExpiry: Type.Optional({ ...OnExpiry, description: 'What becomes of it when it expires.' }),
  properties: Type.Optional(PlainValues),
});
export type NewReservation = Static<typeof NewReservation>;

export const ReservationPatch = Type.Object({
  amount: Type.Optional(
    Type.Unsafe<ExactNumber>({ ...Amount, description: 'Of the whole reservation. More is decided again.' }),
  ),
  expiresInSeconds: Type.Optional(
    Type.Integer({ ...ExpiresInSeconds, description: 'From now on. Left out: it expires as before.' }),
  ),
});
export type ReservationPatch = Static<typeof ReservationPatch>;

export const Reservation = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  featureKey: Type.String(),
  meterId: Type.String(),
  amount: Decimal,
  status: Type.Enum([...RESERVATION_STATUSES]),
  onExpiry: OnExpiry,
  properties: Type.Optional(PlainValues),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  endedAt: Type.Optional({ ...Timestamp, description: 'When it was released, or expired.' }),
});
export type Reservation = Static<typeof Reservation>;

/** With the decision as of an entitlement check; its `current` has what open reservations hold as well. */
export const GrantedReservation = Type.Object({ ...Reservation.properties, decision: EntitlementDecision });

/** `decision`: where more was asked for. Denied, the reservation is as it was. */
export const ChangedReservation = Type.Object({
  ...Reservation.properties,
  decision: Type.Optional(EntitlementDecision),
});

export const DeniedReservation = Type.Object({
  status: Type.Literal('denied'),
  decision: EntitlementDecision,
});

const PATH = `${API_BASE}/reservations` as const;
const params = Type.Object({ reservationId: NamedId });

export const reservationRoutes = {
  'reservations.create': defineRoute({
    method: 'POST',
    path: PATH,
    plane: 'control',
    access: 'usage:write',
    summary: "Hold an amount of a customer's limit or credits",
    description:
      'Grants `amount` if it fits into what is left of the limit, or of the credits beyond it, after usage ' +
      'and all open reservations. Reservations never overrun it together, whichever processes take them. ' +
      'Of meters that sum or count. Denied: 200, and nothing is kept, nor its `Idempotency-Key`.',
    params: Nothing,
    query: Type.Object({ consistency }),
    commitsItself: true,
    body: NewReservation,
    example: { customerId: 'acme', featureKey: 'calls', amount: 100, expiresInSeconds: 60 },
    status: 201,
    response: GrantedReservation,
    otherwise: { status: 200, description: 'It was denied; nothing is held.', response: DeniedReservation },
    errors: ['feature_not_found', 'meter_not_found', 'not_reservable', 'value_invalid'],
  }),
  'reservations.list': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'usage:read',
    summary: 'List reservations',
    description: `Newest first. What has ended is kept for ${RESERVATION_KEPT_DAYS} days.`,
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      customerId: Type.Optional(NamedId),
      status: Type.Optional(Type.Enum([...RESERVATION_STATUSES])),
    }),
    status: 200,
    response: pageOf(Reservation),
    errors: [],
  }),
  'reservations.retrieve': defineRoute({
    method: 'GET',
    path: `${PATH}/{reservationId}`,
    plane: 'control',
    access: 'usage:read',
    summary: 'Retrieve a reservation',
    params,
    query: Nothing,
    status: 200,
    response: Reservation,
    errors: ['not_found'],
  }),
  'reservations.update': defineRoute({
    method: 'PATCH',
    path: `${PATH}/{reservationId}`,
    plane: 'control',
    access: 'usage:write',
    summary: 'Change the amount or the expiry of a reservation',
    description:
      'More is granted or denied like a new reservation of the difference, and the response has the ' +
      '`decision`. Denied: 200, and the reservation stays as it was, its expiry as well. Less is always ' +
      'granted.',
    params,
    query: Type.Object({ consistency }),
    commitsItself: true,
    body: ReservationPatch,
    example: { amount: 150, expiresInSeconds: 60 },
    status: 200,
    response: ChangedReservation,
    errors: ['not_found', 'illegal_transition', 'not_reservable', 'value_invalid'],
  }),
  'reservations.release': defineRoute({
    method: 'POST',
    path: `${PATH}/{reservationId}/release`,
    plane: 'control',
    access: 'usage:write',
    summary: 'Release a reservation',
    description: 'Nothing of it was used. Again: the same response.',
    params,
    query: Nothing,
    commitsItself: true,
    status: 200,
    response: Reservation,
    errors: ['not_found', 'illegal_transition'],
  }),
};
