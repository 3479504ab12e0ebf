import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { REASON_CODES } from '../reason-codes.ts';
import { API_BASE, defineRoute } from '../route.ts';
import { RESETS } from '../value-sets.ts';
import { CustomerParams } from './customers.ts';
import { EntitlementValue, FEATURE_TYPES } from './entitlement-values.ts';
import { Decimal, NamedId, Nothing, ruled, Timestamp } from './fields.ts';

/** Features of one request. */
export const CHECKS_MAX = 100;

const Sources = Type.Array(Type.String(), {
  description: 'Where the value comes from: `plan:<key>`, `addon:<key>`, `override` or `credit`.',
});

export const Contribution = Type.Object({
  source: Type.String({ description: '`plan:<key>`, `addon:<key>` or `override`.' }),
  value: EntitlementValue,
  quantity: Type.Optional(
    Type.Integer({ description: 'How many times the customer has the source. Left out: once.', minimum: 2 }),
  ),
});
export type Contribution = Static<typeof Contribution>;

const held = {
  featureKey: Type.String(),
  type: Type.Enum([...FEATURE_TYPES]),
  effectiveValue: Type.Optional(EntitlementValue),
  resets: Type.Optional(
    Type.Enum([...RESETS], {
      description:
        'Of a metered feature: when its usage begins to count from 0 again. Left out: with the billing ' +
        'period.',
    }),
  ),
  contributions: Type.Optional(
    Type.Array(Contribution, {
      description:
        'The sources of `effectiveValue`. Limits: the sum of `value` × `quantity` is the limit. ' +
        'Unlimited: the sources that are unlimited. Boolean features: the sources with the same value. ' +
        'An override is the only entry. Credits are not included: they pay for usage beyond the limit. ' +
        'Left out when there are more than 100.',
    }),
  ),
};

export const Entitlement = Type.Object({ ...held, sources: Sources });
export type Entitlement = Static<typeof Entitlement>;

export const EntitlementList = Type.Array(Entitlement);

export const EntitlementDecision = Type.Object({
  allowed: Type.Boolean(),
  reason: Type.String({ description: 'A sentence for people, which may change. Decide by `reasonCode`.' }),
  customerId: Type.String(),
  ...held,
  type: Type.Optional(held.type),
  sources: Type.Optional(Sources),
  reasonCode: Type.Enum([...REASON_CODES]),
  limit: Type.Optional(
    Type.Unsafe<ExactNumber>({ ...Decimal, description: 'Left out when the feature is unlimited.' }),
  ),
  current: Type.Optional(
    Type.Unsafe<ExactNumber>({
      ...Decimal,
      description: 'Usage of the meter in the current window of the limit.',
    }),
  ),
  remaining: Type.Optional(
    Type.Unsafe<ExactNumber>({
      ...Decimal,
      description: '`limit` − `current`, at least 0, without what this request asks for.',
    }),
  ),
  resetsAt: Type.Optional({ ...Timestamp, description: 'Left out when the limit never resets.' }),
  asOf: Type.Optional(Timestamp),
});
export type EntitlementDecision = Static<typeof EntitlementDecision>;

export const EntitlementDecisionList = Type.Object({ data: Type.Array(EntitlementDecision) });

const REQUESTED =
  'The amount that the customer wants to use. Metered features: in addition to the usage so far, 1 by ' +
  'default. Limit features: compared with the limit, 0 by default. Not for boolean features.';

/** Text, so that no digit is lost. */
const RequestedText = Type.String({
  ...ruled('^[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?$', 'must be a number of at least 0'),
  maxLength: 64,
  description: `A decimal; an exponent, as in 1e-7, is accepted. ${REQUESTED}`,
});

export const consistency = Type.Enum(['eventual', 'strong'], {
  default: 'eventual',
  description:
    "`eventual` decides from a cache and does not wait: a change of the customer's entitlements is " +
    'visible within 1 s, and counters are at most 2 s old. `strong` reads from the database and waits up ' +
    'to 5 s for the usage acknowledged before the request; after that the response is 503. Usage ' +
    'acknowledged before `asOf` is counted.',
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
    customerToken: true,
    summary: "List a customer's entitlements",
    description:
      'One entry per feature, sorted by key. `effectiveValue` is null when the feature is unlimited. ' +
      'Over all subscriptions that count, boolean values are combined with OR and limits are added; an ' +
      'override replaces the result. An archived customer has no entitlements.',
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
    customerToken: true,
    summary: 'Check whether a customer may use a feature',
    description:
      'The response is always a decision: an unknown customer or feature is denied with its own ' +
      '`reasonCode`. Limit features: `requested` is compared with the limit. Metered features: the usage ' +
      'since the limit was last reset plus `requested` is compared with the limit. Beyond a metered limit, ' +
      'credits pay if the meter has a credit rate and the balance is sufficient (`granted_by_credit`). A ' +
      "check has no event properties: it uses the meter's `creditRate`, or the highest of its " +
      '`creditRates` if there is no other.',
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
    summary: 'Check several features of a customer',
    description: 'The decisions are in the order of `features`. Each is made independently of the others.',
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
