import { type Static, Type } from 'typebox';
import type { ExactNumber } from '../primitives/exact-json.ts';
import { RESETS } from '../value-sets.ts';
import { NamedId } from './fields.ts';

export const FEATURE_TYPES = ['boolean', 'limit', 'metered'] as const;
export type FeatureType = (typeof FEATURE_TYPES)[number];

export const ENTITLEMENTS_MAX = 500;

/** The value that a plan or an add-on gives of a feature. `null` is unlimited. */
export const EntitlementValue = Type.Unsafe<boolean | ExactNumber | null>({
  type: ['boolean', 'number', 'null'],
  format: 'decimal',
  minimum: 0,
  description:
    'Boolean features: true or false. Limit and metered features: a number of at least 0, or null for ' +
    'unlimited.',
});

const Soft = Type.Boolean({
  description: 'Whether the limit may be exceeded. Limit and metered features only.',
});

export const LimitResets = Type.Enum([...RESETS], {
  description:
    'Metered features: when usage begins to count from 0 again. `day`, `week` and `month` are counted from ' +
    'the billing anchor and end with the billing period at the latest; `never` counts from the start of ' +
    'the subscription. Default: what the other values of the feature say that the customer has, else ' +
    '`billing_period`; where they differ the longest applies to their sum.',
});

/** The whole set: a feature that is not in it is no longer granted. */
export const EntitlementSet = Type.Object({
  entitlements: Type.Array(
    Type.Object({
      featureKey: Type.String({
        ...NamedId,
        description: "The feature's key or id. Each feature may occur once.",
      }),
      value: EntitlementValue,
      soft: Type.Optional(Soft),
      resets: Type.Optional(LimitResets),
    }),
    { maxItems: ENTITLEMENTS_MAX },
  ),
});
export type EntitlementSet = Static<typeof EntitlementSet>;

/** As responses show it, sorted by feature key. */
export const GivenEntitlements = Type.Array(
  Type.Object({
    featureKey: Type.String(),
    type: Type.Enum([...FEATURE_TYPES]),
    value: EntitlementValue,
    soft: Soft,
    resets: Type.Optional(LimitResets),
  }),
);
export type GivenEntitlements = Static<typeof GivenEntitlements>;
