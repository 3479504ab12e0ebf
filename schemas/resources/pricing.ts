import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { EntitlementValue, FEATURE_TYPES, LimitResets } from './entitlement-values.ts';
import { Nothing, PublishableKeyQuery } from './fields.ts';
import { PRESENTATION } from './plans.ts';
import { Price } from './prices.ts';

const SCENARIOS = ['new', 'upgrade', 'downgrade', 'active', 'scheduled'] as const;

/** What one plan gives of one feature, with what a page needs to name it. */
export const OfferedEntitlement = Type.Object({
  featureKey: Type.String(),
  featureName: Type.String(),
  type: Type.Enum([...FEATURE_TYPES]),
  value: EntitlementValue,
  soft: Type.Boolean(),
  resets: Type.Optional(LimitResets),
  unit: Type.Optional(Type.String({ description: 'Of the meter of a metered feature.' })),
});

export const OfferedPlan = Type.Object({
  id: Type.String(),
  key: Type.String(),
  name: Type.String(),
  description: Type.Optional(Type.String()),
  ...PRESENTATION,
  prices: Type.Array(Price),
  entitlements: Type.Array(OfferedEntitlement),
  scenario: Type.Optional(
    Type.Enum([...SCENARIOS], {
      description:
        'With a customer token: what choosing the plan would be. `active`: a subscription of the customer ' +
        'has it. `scheduled`: one changes to it or begins with it later. Otherwise it is compared with the ' +
        'plans that the customer has of the same product: `new` without one, `upgrade` above all of them, ' +
        '`downgrade` for the rest. A plan is above another that costs less without any usage; at the same ' +
        'cost, or without one in a common currency, the plan that comes later on the page is above.',
    }),
  ),
});

export const Pricing = Type.Object({
  plans: Type.Array(OfferedPlan, { description: 'By `position`, those without one last, oldest first.' }),
});
export type Pricing = Static<typeof Pricing>;

export const PLANS_SHOWN_MAX = 100;
const CACHED_SECONDS = 60;

export const pricingRoutes = {
  'pricing.retrieve': defineRoute({
    method: 'GET',
    path: `${API_BASE}/pricing`,
    plane: 'control',
    access: 'publishable',
    fromBrowser: true,
    customerToken: true,
    summary: 'Retrieve the published plans with their prices and entitlements, for a pricing page',
    description:
      'For browsers, with a publishable key in a header or in `?key=`. CORS allows every origin. A browser ' +
      `caches the response for ${CACHED_SECONDS} s. With a customer token each plan has a \`scenario\`, ` +
      `and nothing is cached. At most ${PLANS_SHOWN_MAX} plans.`,
    params: Nothing,
    query: PublishableKeyQuery,
    status: 200,
    response: Pricing,
    etag: true,
    cachedSeconds: CACHED_SECONDS,
    errors: [],
  }),
};
