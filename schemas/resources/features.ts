import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { FEATURE_TYPES } from './entitlement-values.ts';
import { Name, NamedId, Nothing, PageQuery, pageOf, ruled, Timestamp } from './fields.ts';

const FeatureKey = Type.String({
  ...NamedId,
  ...ruled('^(?!feat_|\\.{1,2}$)', 'must not begin with feat_, nor be `.` or `..`'),
});

const MeterKey = Type.String({
  ...NamedId,
  description: 'The key or id of the meter that counts the usage of the feature.',
});

const featureFields = {
  key: FeatureKey,
  name: Name,
  type: Type.Enum([...FEATURE_TYPES], {
    description:
      '`boolean`: the customer has it or not. `limit`: a number, such as seats. `metered`: a limit on the ' +
      'usage of a meter.',
  }),
  meterKey: Type.Optional(MeterKey),
};

export const NewFeature = Type.Object(featureFields);
export type NewFeature = Static<typeof NewFeature>;

/** `key` and `type` are in the schema so that a change of them is rejected and not ignored. */
export const FeaturePatch = Type.Partial(NewFeature);
export type FeaturePatch = Static<typeof FeaturePatch>;

export const Feature = Type.Object({
  id: Type.String(),
  ...featureFields,
  key: Type.String(),
  name: Type.String(),
  meterKey: Type.Optional(Type.String()),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Feature = Static<typeof Feature>;

const FeatureParams = Type.Object({
  featureKey: Type.String({ ...NamedId, description: "The feature's key or id." }),
});

const path = `${API_BASE}/features/{featureKey}` as const;
const one = { params: FeatureParams, query: Nothing, path, plane: 'control' } as const;

export const featureRoutes = {
  'features.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/features`,
    plane: 'control',
    access: 'plans:read',
    summary: 'List features, newest first',
    params: Nothing,
    query: PageQuery,
    status: 200,
    response: pageOf(Feature),
    errors: [],
  }),
  'features.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/features`,
    plane: 'control',
    access: 'plans:write',
    summary: 'Create a feature',
    description:
      '`key` and `type` cannot be changed later. A metered feature needs a meter that is not archived.',
    params: Nothing,
    query: Nothing,
    body: NewFeature,
    example: { key: 'seats', name: 'Seats', type: 'limit' },
    status: 201,
    response: Feature,
    etag: true,
    errors: ['already_exists', 'meter_not_found', 'meter_archived'],
  }),
  'features.retrieve': defineRoute({
    ...one,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve a feature',
    status: 200,
    response: Feature,
    etag: true,
    errors: ['feature_not_found'],
  }),
  'features.update': defineRoute({
    ...one,
    method: 'PATCH',
    access: 'plans:write',
    summary: 'Update a feature',
    description: 'Changes the name, or the meter of a metered feature. Fields left out keep their values.',
    body: FeaturePatch,
    example: { name: 'Team seats' },
    status: 200,
    response: Feature,
    etag: true,
    errors: ['feature_not_found', 'meter_not_found', 'meter_archived', 'precondition_failed'],
  }),
  'features.delete': defineRoute({
    ...one,
    method: 'DELETE',
    access: 'plans:write',
    summary: 'Delete a feature',
    description:
      'Removes the feature from every version of every plan, and from all add-ons and overrides. No ' +
      'customer has it any longer.',
    status: 204,
    response: Nothing,
    errors: ['feature_not_found', 'precondition_failed'],
  }),
};
