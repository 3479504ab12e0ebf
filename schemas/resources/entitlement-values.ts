import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { NamedId } from './fields.ts';

export const FEATURE_TYPES = ['boolean', 'limit', 'metered'] as const;
export type FeatureType = (typeof FEATURE_TYPES)[number];

export const ENTITLEMENTS_MAX = 500;

/** What a plan or an add-on gives of a feature. `null` is unlimited. */
export const EntitlementValue = Type.Unsafe<boolean | ExactNumber | null>({
  type: ['boolean', 'number', 'null'],
  format: 'decimal',
  minimum: 0,
  description:
    'true or false for a boolean feature; for a limit or metered one a number from 0 on, or null: unlimited.',
});

const Soft = Type.Boolean({ description: 'A limit that may be passed. Not for boolean features.' });

/** The whole set: what is not in it is no longer given. */
export const EntitlementSet = Type.Object({
  entitlements: Type.Array(
    Type.Object({
      featureKey: Type.String({ ...NamedId, description: "The feature's key or id; each feature once." }),
      value: EntitlementValue,
      soft: Type.Optional(Soft),
    }),
    { maxItems: ENTITLEMENTS_MAX },
  ),
});
export type EntitlementSet = Static<typeof EntitlementSet>;

/** As it is shown, by feature key. */
export const GivenEntitlements = Type.Array(
  Type.Object({
    featureKey: Type.String(),
    type: Type.Enum([...FEATURE_TYPES]),
    value: EntitlementValue,
    soft: Soft,
  }),
);
export type GivenEntitlements = Static<typeof GivenEntitlements>;
