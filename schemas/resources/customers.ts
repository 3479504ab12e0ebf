import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Name, NamedId, Nothing, PageQuery, PlainValues, pageOf, ruled, Timestamp } from './fields.ts';
import { ProcessorId } from './integrations.ts';

export const Customer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  externalId: Type.Optional(Type.String()),
  processorCustomerId: Type.Optional(Type.String()),
  metadata: Type.Optional(PlainValues),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  createdAt: Timestamp,
});
export type Customer = Static<typeof Customer>;

const Email = Type.String({ format: 'email', maxLength: 254 });

export const NewCustomer = Type.Object({
  name: Name,
  email: Email,
  externalId: Type.Optional(
    Type.String({
      ...NamedId,
      ...ruled(
        '^(?!cus_|(events|check|levels|live|feed)$|\\.{1,2}$)',
        'must not begin with cus_, nor be events, check, levels, live, feed, `.` or `..`',
      ),
      description:
        "Your own id of the customer. Every operation accepts it in place of the customer's id. It " +
        'cannot be changed.',
    }),
  ),
  processorCustomerId: Type.Optional({
    ...ProcessorId,
    description:
      "The payment processor's id of the customer. The customer's subscriptions there are created here too.",
  }),
  metadata: Type.Optional(PlainValues),
});
export type NewCustomer = Static<typeof NewCustomer>;

/** An `externalId` may be added where there is none. */
export const CustomerPatch = Type.Partial(
  Type.Object({
    ...NewCustomer.properties,
    processorCustomerId: Type.Unsafe<string | null>({
      ...ProcessorId,
      type: ['string', 'null'],
      description: "The payment processor's id of the customer. null removes it.",
    }),
  }),
);
export type CustomerPatch = Static<typeof CustomerPatch>;

export const CustomerParams = Type.Object({
  customerId: Type.String({ ...NamedId, description: "The customer's id or your own `externalId`." }),
});

const one = { params: CustomerParams, query: Nothing, status: 200, response: Customer, etag: true } as const;

export const customerRoutes = {
  'customers.list': defineRoute({
    method: 'GET',
    path: `${API_BASE}/customers`,
    plane: 'control',
    access: 'customers:view',
    summary: 'List customers, newest first',
    params: Nothing,
    query: Type.Object({
      ...PageQuery.properties,
      email: Type.Optional(
        Type.String({
          maxLength: 254,
          description: 'The exact email address; upper and lower case are the same.',
        }),
      ),
      q: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description: 'Text that the name, email or `externalId` contains, or the whole `id`.',
        }),
      ),
    }),
    status: 200,
    response: pageOf(Customer),
    errors: [],
  }),
  'customers.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/customers`,
    plane: 'control',
    access: 'customers:create',
    summary: 'Create a customer',
    params: Nothing,
    query: Nothing,
    body: NewCustomer,
    example: { name: 'Ada Lovelace', email: 'ada@example.com', metadata: { tier: 'gold' } },
    status: 201,
    response: Customer,
    etag: true,
    errors: ['already_exists', 'value_invalid'],
  }),
  'customers.retrieve': defineRoute({
    ...one,
    method: 'GET',
    path: `${API_BASE}/customers/{customerId}`,
    plane: 'control',
    access: 'customers:view',
    summary: 'Retrieve a customer',
    errors: ['customer_not_found'],
  }),
  'customers.update': defineRoute({
    ...one,
    method: 'PATCH',
    path: `${API_BASE}/customers/{customerId}`,
    plane: 'control',
    access: 'customers:create',
    summary: 'Update a customer',
    description:
      'Fields left out keep their values. `metadata` is replaced as a whole. `externalId` can be set once.',
    body: CustomerPatch,
    example: { name: 'Ada King' },
    errors: ['customer_not_found', 'already_exists', 'precondition_failed', 'value_invalid'],
  }),
  'customers.archive': defineRoute({
    ...one,
    method: 'POST',
    path: `${API_BASE}/customers/{customerId}/archive`,
    plane: 'control',
    access: 'customers:create',
    summary: 'Archive a customer',
    description: 'An archived customer takes no new usage and no new subscriptions.',
    errors: ['customer_not_found', 'precondition_failed'],
  }),
};
