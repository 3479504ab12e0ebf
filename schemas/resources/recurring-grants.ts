/** The credits that a plan grants to its subscriptions in each period. */
import { type Static, Type } from 'typebox';
import { GRANT_EXPIRIES, GRANT_RHYTHMS } from '../value-sets.ts';
import { PRIORITY_DEFAULT, Priority } from './credits.ts';
import { Decimal, NamedId } from './fields.ts';

export const RECURRING_GRANTS_MAX = 20;
export const GRANT_KEY_DEFAULT = 'included';

export const RecurringGrant = Type.Object({
  key: Type.Optional(
    Type.String({
      ...NamedId,
      default: GRANT_KEY_DEFAULT,
      description:
        'Your name for it, once in a plan. A subscription gets each key once per period; plans whose grants ' +
        'replace each other use the same key.',
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
});
export type RecurringGrant = Static<typeof RecurringGrant>;

/** The whole set. */
export const RecurringGrantSet = Type.Object({
  creditGrants: Type.Array(RecurringGrant, { maxItems: RECURRING_GRANTS_MAX }),
});
export type RecurringGrantSet = Static<typeof RecurringGrantSet>;
