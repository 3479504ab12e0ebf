import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { Name, NamedId, Nothing, PlainValues, Timestamp } from './fields.ts';

export const Customer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  externalId: Type.Optional(Type.String()),
  metadata: Type.Optional(PlainValues),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  createdAt: Timestamp,
});
export type Customer = Static<typeof Customer>;

export const NewCustomer = Type.Object({
  name: Name,
  email: Type.String({ format: 'email', maxLength: 254 }),
  externalId: Type.Optional(
    Type.String({
      ...NamedId,
      pattern: '^(?!cus_|events$|\\.{1,2}$)',
      description: "Your own id. It may stand wherever the customer's id does; it never changes.",
    }),
  ),
  metadata: Type.Optional(PlainValues),
});
export type NewCustomer = Static<typeof NewCustomer>;

export const customerRoutes = {
  'customers.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/customers`,
    plane: 'control',
    access: 'customers:create',
    summary: 'Create a customer',
    params: Nothing,
    query: Nothing,
    body: NewCustomer,
    status: 201,
    response: Customer,
    errors: ['already_exists', 'value_invalid'],
  }),
};
