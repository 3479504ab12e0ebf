import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { EntitlementValue, FEATURE_TYPES } from './entitlement-values.ts';
import { NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

/** Of one customer: all of them are read on its checks. */
export const OVERRIDES_MAX = 500;

const Reason = Type.String({ minLength: 1, maxLength: 500, description: 'For people.' });

const ExpiresAt = Type.String({
  ...Timestamp,
  description: 'From then on it says nothing; what subscriptions give holds again. Left out: never.',
});

export const Override = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  featureKey: Type.String(),
  type: Type.Enum([...FEATURE_TYPES]),
  value: EntitlementValue,
  expiresAt: Type.Optional(ExpiresAt),
  reason: Type.Optional(Reason),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Override = Static<typeof Override>;

export const NewOverride = Type.Object({
  value: EntitlementValue,
  expiresAt: Type.Optional(ExpiresAt),
  reason: Type.Optional(Reason),
});
export type NewOverride = Static<typeof NewOverride>;

const OverrideParams = Type.Object({
  ...CustomerParams.properties,
  featureKey: Type.String({ ...NamedId, description: "The feature's key or id." }),
});

const PATH = `${API_BASE}/customers/{customerId}/overrides` as const;

const place = {
  path: `${PATH}/{featureKey}`,
  plane: 'control',
  params: OverrideParams,
  query: Nothing,
} as const;
const one = { ...place, status: 200, response: Override, etag: true } as const;

export const overrideRoutes = {
  'overrides.list': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'entitlements:read',
    summary: "List a customer's overrides, newest first",
    description: 'With those that have expired: they stay until they are replaced or removed.',
    params: CustomerParams,
    query: PageQuery,
    status: 200,
    response: pageOf(Override),
    errors: ['customer_not_found'],
  }),
  'overrides.retrieve': defineRoute({
    ...one,
    method: 'GET',
    access: 'entitlements:read',
    summary: 'Read an override',
    errors: ['customer_not_found', 'feature_not_found', 'not_found'],
  }),
  'overrides.put': defineRoute({
    ...one,
    method: 'PUT',
    access: 'subscriptions:write',
    summary: 'Give or deny a customer a feature, whatever its subscriptions say',
    description:
      'In place of all that they give together, also where they give nothing. false, or 0, takes the ' +
      'feature away; a limit is a hard one. What is left out is not set: the whole override is replaced.',
    body: NewOverride,
    example: { value: 100, expiresAt: '2099-12-31T00:00:00Z', reason: 'agreed by phone' },
    errors: [
      'customer_not_found',
      'customer_archived',
      'feature_not_found',
      'precondition_failed',
      'value_invalid',
    ],
  }),
  'overrides.delete': defineRoute({
    ...place,
    method: 'DELETE',
    access: 'subscriptions:write',
    summary: 'Remove an override',
    status: 204,
    response: Nothing,
    errors: ['customer_not_found', 'feature_not_found', 'not_found', 'precondition_failed'],
  }),
};
