import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { EntitlementSet, GivenEntitlements } from './entitlement-values.ts';
import { Name, NamedId, Nothing, PageQuery, pageOf, ruled, Timestamp } from './fields.ts';
import { ProcessorPriceIds } from './integrations.ts';
import { PriceSet, REPLACED } from './prices.ts';

export const NewAddon = Type.Object({
  key: Type.String({
    ...NamedId,
    ...ruled('^(?!addon_|\\.{1,2}$)', 'must not begin with addon_, nor be `.` or `..`'),
  }),
  name: Name,
  processorPriceIds: Type.Optional(ProcessorPriceIds),
});
export type NewAddon = Static<typeof NewAddon>;

export const AddonPatch = Type.Object({
  name: Type.Optional(Name),
  processorPriceIds: Type.Optional(ProcessorPriceIds),
});

export const Addon = Type.Object({
  id: Type.String(),
  key: Type.String(),
  name: Type.String(),
  processorPriceIds: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Prices of the payment processor. A subscription item with one of these prices sets the quantity ' +
        'of the add-on. A plan can have the same price; the add-on then counts the seats of that plan.',
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Addon = Static<typeof Addon>;

export const AddonEntitlements = Type.Object({
  addonId: Type.String(),
  entitlements: GivenEntitlements,
});
export type AddonEntitlements = Static<typeof AddonEntitlements>;

export const AddonPrices = Type.Object({ addonId: Type.String(), ...PriceSet.properties });
export type AddonPrices = Static<typeof AddonPrices>;

const AddonParams = Type.Object({
  addonId: Type.String({ ...NamedId, description: "The add-on's id or key." }),
});

const itsEntitlements = {
  plane: 'control',
  path: `${API_BASE}/addons/{addonId}/entitlements`,
  params: AddonParams,
  query: Nothing,
  status: 200,
  response: AddonEntitlements,
  etag: true,
} as const;

const itsPrices = {
  ...itsEntitlements,
  path: `${API_BASE}/addons/{addonId}/prices`,
  response: AddonPrices,
} as const;

export const addonRoutes = {
  'addons.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/addons`,
    plane: 'control',
    access: 'plans:read',
    summary: 'List add-ons, newest first',
    params: Nothing,
    query: PageQuery,
    status: 200,
    response: pageOf(Addon),
    errors: [],
  }),
  'addons.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/addons`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Create an add-on',
    description:
      'A subscription with the add-on gets its entitlements, multiplied by the quantity, in addition to ' +
      'those of the plan.',
    params: Nothing,
    query: Nothing,
    body: NewAddon,
    example: { key: 'extra-seats', name: 'Extra seats' },
    status: 201,
    response: Addon,
    etag: true,
    errors: ['already_exists'],
  }),
  'addons.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/addons/{addonId}`,
    plane: 'control',
    access: 'plans:read',
    summary: 'Retrieve an add-on',
    params: AddonParams,
    query: Nothing,
    status: 200,
    response: Addon,
    etag: true,
    errors: ['not_found'],
  }),
  'addons.update': defineRoute({
    method: 'PATCH',
    path: `${API_BASE}/addons/{addonId}`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Update an add-on',
    description: 'Fields left out keep their values. `processorPriceIds` is replaced as a whole.',
    params: AddonParams,
    query: Nothing,
    body: AddonPatch,
    example: { name: 'Seats' },
    status: 200,
    response: Addon,
    etag: true,
    errors: ['not_found', 'already_exists', 'precondition_failed'],
  }),
  'addons.retrieveEntitlements': defineRoute({
    ...itsEntitlements,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve the entitlements of an add-on',
    errors: ['not_found'],
  }),
  'addons.replaceEntitlements': defineRoute({
    ...itsEntitlements,
    method: 'PUT',
    access: 'plans:write',
    summary: 'Replace the entitlements of an add-on',
    description:
      'The request contains the whole set; a feature that is not in it is no longer granted. The values ' +
      'apply per unit of the quantity. Every subscription with the add-on gets the new values at once.',
    body: EntitlementSet,
    example: { entitlements: [{ featureKey: 'seats', value: 1 }] },
    errors: ['not_found', 'feature_not_found', 'precondition_failed', 'value_invalid'],
  }),
  'addons.retrievePrices': defineRoute({
    ...itsPrices,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve the prices of an add-on',
    errors: ['not_found'],
  }),
  'addons.replacePrices': defineRoute({
    ...itsPrices,
    method: 'PUT',
    access: 'plans:write',
    summary: 'Replace the prices of an add-on',
    description: `${REPLACED} A flat price is charged for each unit of the quantity, usage and seats once.`,
    body: PriceSet,
    example: {
      prices: [{ key: 'seat', currency: 'EUR', interval: 'month', model: 'flat', amount: 9 }],
    },
    errors: ['not_found', 'meter_not_found', 'feature_not_found', 'precondition_failed', 'value_invalid'],
  }),
};
