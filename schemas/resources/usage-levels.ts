/** Which customers are near a limit. */
import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Decimal, NamedId, Nothing, Timestamp } from './fields.ts';

export const UsageLevel = Type.Object({
  customerId: Type.String(),
  meterId: Type.String({ description: "The meter's key." }),
  share: Type.Number({
    description:
      'Usage divided by the limit or by the budget, the larger of the two, with six fraction digits and ' +
      'rounded down. Of a limit of 0 it is 1.',
  }),
  current: Decimal,
  limit: Type.Optional(Decimal),
  budget: Type.Optional(
    Type.Unsafe<Static<typeof Decimal>>({
      ...Decimal,
      description: "The budget's hard threshold; the soft one without it.",
    }),
  ),
  unit: Type.Optional(Type.String()),
  periodStart: Timestamp,
  periodEnd: Timestamp,
  updatedAt: Type.String({ ...Timestamp, description: 'The last time that the level became another.' }),
});
export type UsageLevel = Static<typeof UsageLevel>;

export const UsageLevelList = Type.Object({
  data: Type.Array(UsageLevel),
  nextCursor: Type.Optional(
    Type.String({ description: 'The cursor of the next page. Left out on the last page.' }),
  ),
});

export const usageLevelRoutes = {
  'usageLevels.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/usage/levels`,
    plane: 'control',
    access: 'usage:read',
    summary: 'List customers by the share of a limit or budget used, largest first',
    description:
      'One entry for each meter of a customer that has a limit or budget in the running period and has ' +
      'used something. Of several features on a meter the largest limit counts. Usage, limits and periods ' +
      'are reflected a few seconds after they are counted or changed.',
    params: Nothing,
    query: Type.Object({
      above: Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        default: 0.8,
        description: 'Only entries with at least this share.',
      }),
      featureKey: Type.Optional(
        Type.String({ ...NamedId, description: 'A metered feature: only entries of its meter.' }),
      ),
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
      cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    }),
    status: 200,
    response: UsageLevelList,
    errors: ['feature_not_found'],
  }),
};
