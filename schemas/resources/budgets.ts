import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

const Threshold = Type.Unsafe<Static<typeof Decimal>>({
  ...Decimal,
  minimum: 0,
  description:
    'Usage within one billing period. When it is reached, `usage.threshold` is sent, once per period.',
});

const thresholds = { soft: Type.Optional(Threshold), hard: Type.Optional(Threshold) };

export const Budget = Type.Object({
  customerId: Type.String(),
  meterId: Type.String({ description: "The meter's key." }),
  ...thresholds,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Budget = Static<typeof Budget>;

export const NewBudget = Type.Object(thresholds);

const BudgetParams = Type.Object({
  ...CustomerParams.properties,
  meterKey: Type.String({ ...NamedId, description: "The meter's key or id." }),
});

const PATH = `${API_BASE}/customers/{customerId}/budgets` as const;

const place = {
  path: `${PATH}/{meterKey}`,
  plane: 'control',
  params: BudgetParams,
  query: Nothing,
} as const;
const one = { ...place, status: 200, response: Budget, etag: true } as const;

export const budgetRoutes = {
  'budgets.list': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'entitlements:read',
    summary: "List a customer's budgets, newest first",
    params: CustomerParams,
    query: PageQuery,
    status: 200,
    response: pageOf(Budget),
    errors: ['customer_not_found'],
  }),
  'budgets.retrieve': defineRoute({
    ...one,
    method: 'GET',
    access: 'entitlements:read',
    summary: 'Retrieve a budget',
    errors: ['customer_not_found', 'meter_not_found', 'not_found'],
  }),
  'budgets.put': defineRoute({
    ...one,
    method: 'PUT',
    access: 'subscriptions:write',
    summary: "Create or replace a customer's budget for a meter",
    description:
      'A budget sends `usage.threshold` events and does not reject usage. Limits need no budget: they ' +
      'send the event at the limit and at 80 % of it. Give at least one of `soft` and `hard`; `soft` is ' +
      'at most `hard`. The whole budget is replaced: a threshold left out is removed. Usage already ' +
      'recorded in the current period counts.',
    body: NewBudget,
    example: { soft: 800, hard: 1000 },
    errors: [
      'customer_not_found',
      'customer_archived',
      'meter_not_found',
      'precondition_failed',
      'value_invalid',
    ],
  }),
  'budgets.delete': defineRoute({
    ...place,
    method: 'DELETE',
    access: 'subscriptions:write',
    summary: 'Delete a budget',
    status: 204,
    response: Nothing,
    errors: ['customer_not_found', 'meter_not_found', 'not_found', 'precondition_failed'],
  }),
};
