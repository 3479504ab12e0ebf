import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { EntitlementValue, FEATURE_TYPES, LimitResets } from './entitlement-values.ts';
import { NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

/** Of one customer: each of its checks reads all of them. */
export const OVERRIDES_MAX = 500;

const Reason = Type.String({ minLength: 1, maxLength: 500, description: 'A text for people.' });

const ExpiresAt = Type.String({
  ...Timestamp,
  description: 'When the override ends; subscriptions then determine the value again. Default: never.',
});

export const Override = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  featureKey: Type.String(),
  type: Type.Enum([...FEATURE_TYPES]),
  value: EntitlementValue,
  resets: Type.Optional(LimitResets),
  expiresAt: Type.Optional(ExpiresAt),
  reason: Type.Optional(Reason),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Override = Static<typeof Override>;

export const NewOverride = Type.Object({
  value: EntitlementValue,
  resets: Type.Optional(LimitResets),
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
    description: 'Includes expired overrides: they stay until they are replaced or deleted.',
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
    summary: 'Retrieve an override',
    errors: ['customer_not_found', 'feature_not_found', 'not_found'],
  }),
  'overrides.put': defineRoute({
    ...one,
    method: 'PUT',
    access: 'subscriptions:write',
    summary: "Create or replace a customer's override of a feature",
    description:
      'The override replaces the combined value of all subscriptions of the customer, also when they do ' +
      'not include the feature. false or 0 denies the feature; a limit is a hard limit. The whole ' +
      'override is replaced: a field left out is removed.',
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
    summary: 'Delete an override',
    status: 204,
    response: Nothing,
    errors: ['customer_not_found', 'feature_not_found', 'not_found', 'precondition_failed'],
  }),
};
