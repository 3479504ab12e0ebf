/** The credits that a plan grants to its subscriptions in each period. */
import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { GRANT_EXPIRIES, GRANT_RHYTHMS } from '../value-sets.ts';
import { PRIORITY_DEFAULT, Priority } from './credits.ts';
import { Decimal, NamedId, Nothing } from './fields.ts';
import { PlanParams, VersionQuery } from './plans.ts';

export const RECURRING_GRANTS_MAX = 20;
export const GRANT_KEY_DEFAULT = 'included';

export const Rollover = Type.Object(
  {
    percent: Type.Unsafe<Static<typeof Decimal>>({
      ...Decimal,
      exclusiveMinimum: 0,
      maximum: 100,
      description: 'The share of what is left.',
    }),
    max: Type.Optional(
      Type.Unsafe<Static<typeof Decimal>>({
        ...Decimal,
        exclusiveMinimum: 0,
        description: 'The most that goes on, what was rolled over before included. Default: no limit.',
      }),
    ),
  },
  {
    description:
      'What goes on to the next period instead of expiring: a share of all that is left of the key when ' +
      'the period ends. Only for `period_end`.',
  },
);

export const RecurringGrant = Type.Object({
  key: Type.Optional(
    Type.String({
      ...NamedId,
      default: GRANT_KEY_DEFAULT,
      description:
        'Your name for it, once in a plan. A subscription gets each key once per period; plans whose ' +
        'grants replace each other use the same key.',
    }),
  ),
  amount: Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, exclusiveMinimum: 0 }),
  every: Type.Enum([...GRANT_RHYTHMS], {
    description:
      '`period`: at the start of each billing period. `month`: each month from the billing anchor on, also ' +
      'within a longer period.',
  }),
  priority: Type.Optional(Type.Integer({ ...Priority, default: PRIORITY_DEFAULT })),
  expires: Type.Enum([...GRANT_EXPIRIES], {
    description: 'Whether what is left expires at the end of its period, or of its month.',
  }),
  rollover: Type.Optional(Rollover),
});
export type RecurringGrant = Static<typeof RecurringGrant>;

/** The whole set. */
export const RecurringGrantSet = Type.Object({
  creditGrants: Type.Array(RecurringGrant, { maxItems: RECURRING_GRANTS_MAX }),
});
export type RecurringGrantSet = Static<typeof RecurringGrantSet>;

export const PlanCreditGrants = Type.Object({
  planId: Type.String(),
  version: Type.Integer(),
  ...RecurringGrantSet.properties,
});
export type PlanCreditGrants = Static<typeof PlanCreditGrants>;

const itsCreditGrants = {
  plane: 'control',
  path: `${API_BASE}/plans/{planId}/credit-grants`,
  params: PlanParams,
  status: 200,
  response: PlanCreditGrants,
  etag: true,
} as const;

export const recurringGrantRoutes = {
  'plans.retrieveCreditGrants': defineRoute({
    ...itsCreditGrants,
    method: 'GET',
    access: 'plans:read',
    summary: 'Retrieve the credits that a plan grants',
    query: VersionQuery,
    errors: ['plan_not_found'],
  }),
  'plans.replaceCreditGrants': defineRoute({
    ...itsCreditGrants,
    method: 'PUT',
    access: 'plans:write',
    summary: 'Replace the credits that a plan grants',
    description:
      'The request contains the whole set. A subscription gets each grant once per period while it is ' +
      'active or in a trial. The set that is there already changes nothing; another one is granted from ' +
      'the next period of each subscription on. A draft is changed in place until a subscription is pinned ' +
      'to it. For any other plan this creates the next version.',
    query: Nothing,
    body: RecurringGrantSet,
    example: { creditGrants: [{ amount: 500, every: 'period', expires: 'period_end' }] },
    errors: ['plan_not_found', 'precondition_failed', 'value_invalid'],
  }),
};
