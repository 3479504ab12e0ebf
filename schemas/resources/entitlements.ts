import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { REASON_CODES } from '../reason-codes.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { EntitlementValue, FEATURE_TYPES } from './entitlement-values.ts';
import { Decimal, NamedId, Nothing, ruled, Timestamp } from './fields.ts';

/** Features of one call that asks for several. */
const CHECKS_MAX = 100;

const Sources = Type.Array(Type.String(), {
  description: '`plan:<key>`, `addon:<key>`, `override`, `credit`.',
});

export const Contribution = Type.Object({
  source: Type.String({ description: '`plan:<key>`, `addon:<key>` or `override`.' }),
  value: EntitlementValue,
  quantity: Type.Optional(
    Type.Integer({ description: 'How often the customer has it; left out: once.', minimum: 2 }),
  ),
});
export type Contribution = Static<typeof Contribution>;

const held = {
  featureKey: Type.String(),
  type: Type.Enum([...FEATURE_TYPES]),
  effectiveValue: Type.Optional(EntitlementValue),
  contributions: Type.Optional(
    Type.Array(Contribution, {
      description:
        'What `effectiveValue` is made of. Of a limit `value` × `quantity` add up to it; of an unlimited ' +
        'one these are the sources that make it so, of a boolean those that say the same. An override ' +
        'stands alone. Credits are no part of it: they pay for what is beyond. Left out where there are ' +
        'more than 100.',
    }),
  ),
};

export const Entitlement = Type.Object({ ...held, sources: Sources });
export type Entitlement = Static<typeof Entitlement>;

export const EntitlementList = Type.Array(Entitlement);

export const EntitlementDecision = Type.Object({
  allowed: Type.Boolean(),
  reason: Type.String({ description: 'One sentence for people; it may change. Decide by `reasonCode`.' }),
  customerId: Type.String(),
  ...held,
  type: Type.Optional(held.type),
  sources: Type.Optional(Sources),
  reasonCode: Type.Enum([...REASON_CODES]),
  limit: Type.Optional(Type.Unsafe<ExactNumber>({ ...Decimal, description: 'Missing when unlimited.' })),
  current: Type.Optional(
    Type.Unsafe<ExactNumber>({ ...Decimal, description: "The meter's counter of this period." }),
  ),
  remaining: Type.Optional(
    Type.Unsafe<ExactNumber>({
      ...Decimal,
      description: 'limit − current, 0 at least; before this request.',
    }),
  ),
  resetsAt: Type.Optional(Timestamp),
  asOf: Type.Optional(Timestamp),
});
export type EntitlementDecision = Static<typeof EntitlementDecision>;

export const EntitlementDecisionList = Type.Object({ data: Type.Array(EntitlementDecision) });

const REQUESTED =
  'How many more are asked for. Left out: 1 of a metered feature, 0 of a limit. Nothing of a boolean one.';

/** Text, so that no digit of it is lost. */
const RequestedText = Type.String({
  ...ruled('^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', 'must be a number from 0 on'),
  maxLength: 64,
  description: `A decimal, also one like 1e-7. ${REQUESTED}`,
});

const consistency = Type.Enum(['eventual', 'strong'], {
  default: 'eventual',
  description:
    '`eventual` answers from memory and does not wait: a change of what the customer holds is seen within ' +
    'a second, and counters are 2 s old at most. `strong` reads everything, and waits up to 5 s for what ' +
    'was acknowledged before, else 503. `asOf` says up to when everything is counted.',
});

export const EntitlementChecks = Type.Object({
  customerId: CustomerParams.properties.customerId,
  features: Type.Array(
    Type.Object({
      featureKey: Type.String({ ...NamedId, description: "The feature's key or id." }),
      requested: Type.Optional(Type.Unsafe<ExactNumber>({ ...Decimal, minimum: 0, description: REQUESTED })),
    }),
    { minItems: 1, maxItems: CHECKS_MAX },
  ),
});
export type EntitlementChecks = Static<typeof EntitlementChecks>;

export const entitlementRoutes = {
  'entitlements.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/entitlements/{customerId}`,
    plane: 'control',
    access: 'entitlements:read',
    summary: 'List what a customer is entitled to',
    description:
      'One row per feature, by key. `effectiveValue` is null where there is no limit. Over all ' +
      'subscriptions that count, booleans are combined by OR and limits are added up; an override replaces ' +
      'the result. An archived customer holds nothing.',
    params: CustomerParams,
    query: Nothing,
    status: 200,
    response: EntitlementList,
    etag: true,
    errors: ['customer_not_found'],
  }),
  'entitlements.check': defineRoute({
    method: 'GET',
    path: `${API_BASE}/entitlements/{customerId}/{featureKey}`,
    plane: 'control',
    access: 'entitlements:read',
    summary: 'Decide whether a customer may use a feature',
    description:
      'Always a decision: an unknown customer or feature is a denial with its reasonCode. Of a limit the ' +
      'number asked for is compared with it, of a metered feature the counter and the number asked for. ' +
      'Beyond a metered limit credits pay where the meter has a credit rate and they reach: ' +
      "`granted_by_credit`. A check knows no property, so it reckons with the meter's `creditRate`, or " +
      'with the dearest of its `creditRates` where it has nothing else.',
    params: Type.Object({
      ...CustomerParams.properties,
      featureKey: Type.String({ ...NamedId, description: "The feature's key or id." }),
    }),
    query: Type.Object({ requested: Type.Optional(RequestedText), consistency }),
    status: 200,
    response: EntitlementDecision,
    errors: ['value_invalid'],
  }),
  'entitlements.checkMany': defineRoute({
    method: 'POST',
    path: `${API_BASE}/entitlements/check`,
    plane: 'control',
    access: 'entitlements:read',
    summary: 'Decide on several features of a customer at once',
    description: 'The decisions stand in the order of the questions. Each is made for itself.',
    params: Nothing,
    query: Type.Object({ consistency }),
    isRead: true,
    body: EntitlementChecks,
    example: { customerId: 'acme', features: [{ featureKey: 'seats', requested: 5 }] },
    status: 200,
    response: EntitlementDecisionList,
    errors: ['value_invalid'],
  }),
};
