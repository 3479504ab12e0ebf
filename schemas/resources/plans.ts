import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { PLAN_STATUSES } from '../value-sets.ts';

import { EntitlementSet, GivenEntitlements } from './entitlement-values.ts';
import { Name, NamedId, Nothing, PageQuery, pageOf, removable, Timestamp } from './fields.ts';
import { ProcessorPriceIds } from './integrations.ts';
import { PriceSet, REPLACED } from './prices.ts';

const VERSION_MAX = 2 ** 31 - 1;

const PlanStatus = Type.Enum([...PLAN_STATUSES]);

const ProductId = Type.String({
  ...NamedId,
  description: 'An unknown product is created, with its id as its name.',
});
const Description = Type.String({ maxLength: 2000 });

/** What a pricing page shows of a plan. A change of it makes no version. */
export const PRESENTATION = {
  position: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 10_000, description: 'The place of the plan on a pricing page.' }),
  ),
  highlights: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 20,
      description: 'Sentences that a pricing page shows under the price.',
    }),
  ),
  callToAction: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, description: 'The text of the button on a pricing page.' }),
  ),
};

export const NewPlan = Type.Object({
  productId: ProductId,
  name: Name,
  description: Type.Optional(Description),
  ...PRESENTATION,
  processorPriceIds: Type.Optional(ProcessorPriceIds),
});
export type NewPlan = Static<typeof NewPlan>;

export const PlanPatch = Type.Object({
  productId: Type.Optional(ProductId),
  name: Type.Optional(Name),
  description: Type.Optional(
    Type.Union([Description, Type.Null()], { description: 'null removes the description.' }),
  ),
  position: removable(PRESENTATION.position),
  highlights: PRESENTATION.highlights,
  callToAction: removable(PRESENTATION.callToAction),
  processorPriceIds: Type.Optional(ProcessorPriceIds),
});
export type PlanPatch = Static<typeof PlanPatch>;

export const Plan = Type.Object({
  id: Type.String(),
  key: Type.String({
    description: 'Made from the first name of the plan. It does not change with the name.',
  }),
  name: Type.String(),
  status: PlanStatus,
  productId: Type.String(),
  description: Type.Optional(Type.String()),
  ...PRESENTATION,
  version: Type.Integer(),
  processorPriceIds: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Prices of the payment processor. A subscription with one of these prices is on this plan.',
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Plan = Static<typeof Plan>;

export const PlanEntitlements = Type.Object({
  planId: Type.String(),
  version: Type.Integer(),
  entitlements: GivenEntitlements,
});
export type PlanEntitlements = Static<typeof PlanEntitlements>;

export const PlanPrices = Type.Object({
  planId: Type.String(),
  version: Type.Integer(),
  ...PriceSet.properties,
});
export type PlanPrices = Static<typeof PlanPrices>;

export const PlanParams = Type.Object({
  planId: Type.String({ ...NamedId, description: "The plan's id or key." }),
});

const control = { plane: 'control', params: PlanParams, query: Nothing } as const;
const onePlan = { ...control, status: 200, response: Plan, etag: true } as const;
const itsEntitlements = {
  plane: 'control',
  path: `${API_BASE}/plans/{planId}/entitlements`,
  params: PlanParams,
  status: 200,
  response: PlanEntitlements,
  etag: true,
} as const;

const itsPrices = {
  ...itsEntitlements,
  path: `${API_BASE}/plans/{planId}/prices`,
  response: PlanPrices,
} as const;

export const VersionQuery = Type.Object({
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: VERSION_MAX,
      description: 'The version of the plan. Default: the current version.',
    }),
  ),
});

export const planRoutes = {
  'plans.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/plans`,
    plane: 'control',
    access: 'plans:read',
    summary: 'List plans, newest first',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      status: Type.Optional(PlanStatus),
      productId: Type.Optional(NamedId),
    }),
    status: 200,
    response: pageOf(Plan),
    errors: [],
  }),
  createPlan: defineRoute({
    method: 'POST',
    path: `${API_BASE}/plans`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Create a plan as a draft',
    description: 'The key is made from the name and is unique: `pro`, `pro-2`, …',
    params: Nothing,
    query: Nothing,
    body: NewPlan,
    example: { productId: 'analytics', name: 'Pro', description: 'For teams' },
    status: 201,
    response: Plan,
    etag: true,
    errors: ['already_exists'],
  }),
  'plans.retrieve': defineRoute({
    ...onePlan,
    method: 'GET',
    path: `${API_BASE}/plans/{planId}`,
    access: 'plans:read',
    summary: 'Retrieve a plan',
    errors: ['plan_not_found'],
  }),
  'plans.update': defineRoute({
    ...onePlan,
    method: 'PATCH',
    path: `${API_BASE}/plans/{planId}`,
    access: 'plans:write',
    summary: 'Update a plan',
    description:
      'Fields left out keep their values. A draft is changed in place until a subscription is pinned to ' +
      'it. A change of any other plan creates its next version with the same entitlements; pinned ' +
      'subscriptions stay on their version. `processorPriceIds` and `highlights` are replaced as a whole; ' +
      'they, `position` and `callToAction` create no version.',
    body: PlanPatch,
    example: { name: 'Pro 2026' },
    errors: ['plan_not_found', 'already_exists', 'precondition_failed'],
  }),
  'plans.publish': defineRoute({
    ...onePlan,
    method: 'POST',
    path: `${API_BASE}/plans/{planId}/publish`,
    access: 'plans:write',
    summary: 'Publish a plan',
    description: 'Publishing a published plan changes nothing.',
    errors: ['plan_not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'plans.archive': defineRoute({
    ...onePlan,
    method: 'POST',
    path: `${API_BASE}/plans/{planId}/archive`,
    access: 'plans:write',
    summary: 'Archive a plan',
    description: 'An archived plan takes no new subscriptions. Existing ones continue.',
    errors: ['plan_not_found', 'illegal_transition', 'precondition_failed'],
  }),
  'plans.retrieveEntitlements': defineRoute({
    ...itsEntitlements,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve the entitlements of a plan',
    query: VersionQuery,
    errors: ['plan_not_found'],
  }),
  'plans.replaceEntitlements': defineRoute({
    ...itsEntitlements,
    method: 'PUT',
    access: 'plans:write',
    summary: 'Replace the entitlements of a plan',
    description:
      'The request contains the whole set; a feature that is not in it is no longer granted. The set that ' +
      'the plan already has changes nothing. A draft is changed in place until a subscription is pinned to ' +
      'it. For any other plan this creates the next version, which applies at once to every subscription ' +
      'that is not pinned.',
    query: Nothing,
    body: EntitlementSet,
    example: { entitlements: [{ featureKey: 'seats', value: 5 }] },
    errors: ['plan_not_found', 'feature_not_found', 'precondition_failed', 'value_invalid'],
  }),
  'plans.retrievePrices': defineRoute({
    ...itsPrices,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve the prices of a plan',
    query: VersionQuery,
    errors: ['plan_not_found'],
  }),
  'plans.replacePrices': defineRoute({
    ...itsPrices,
    method: 'PUT',
    access: 'plans:write',
    summary: 'Replace the prices of a plan',
    description:
      `${REPLACED} A draft is changed in place until a subscription is pinned to it. For any other plan ` +
      'this creates the next version, which applies at once to every subscription that is not pinned.',
    query: Nothing,
    body: PriceSet,
    example: {
      prices: [
        { key: 'base', currency: 'EUR', interval: 'month', model: 'flat', amount: 49 },
        {
          key: 'calls',
          currency: 'EUR',
          interval: 'month',
          model: 'graduated',
          meterKey: 'calls',
          tiers: [
            { upTo: 1000, unitAmount: 0 },
            { upTo: null, unitAmount: 0.002 },
          ],
        },
      ],
    },
    errors: [
      'plan_not_found',
      'meter_not_found',
      'feature_not_found',
      'precondition_failed',
      'value_invalid',
    ],
  }),
};
