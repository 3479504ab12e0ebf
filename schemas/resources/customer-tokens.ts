import { type Static, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { NamedId, Nothing, Timestamp } from './fields.ts';

const SECONDS_MIN = 60;
const SECONDS_MAX = 86_400;
const SECONDS_DEFAULT = 3_600;

export const NewCustomerToken = Type.Object({
  customerId: Type.String({ ...NamedId, description: "The customer's id or your own `externalId`." }),
  expiresInSeconds: Type.Integer({
    minimum: SECONDS_MIN,
    maximum: SECONDS_MAX,
    default: SECONDS_DEFAULT,
    description: 'Seconds until the token expires. Default: one hour. Maximum: one day.',
  }),
});

export const CustomerToken = Type.Object({
  token: Type.String({ description: 'Send it as `Authorization: Bearer ct_…`.' }),
  expiresAt: Timestamp,
  customerId: Type.String(),
});
export type CustomerToken = Static<typeof CustomerToken>;

export const customerTokenRoutes = {
  'customerTokens.create': defineRoute({
    method: 'POST',
    path: `${API_BASE}/customer-tokens`,
    plane: 'control',
    access: 'customers:view',
    summary: 'Create a token with which a browser reads one customer',
    description:
      'For a page that your server has signed the customer in to. The token reads the entitlements, usage ' +
      'counters, cost and pricing of this customer, from any origin, and nothing else; `me` in place of a ' +
      "customer's id names its own. It has at most the scopes of the key that creates it, and ends at " +
      '`expiresAt`, when that key is revoked or expires, or when the customer is archived. It is neither ' +
      'stored nor listed.',
    params: Nothing,
    query: Nothing,
    isRead: true,
    returnsCredential: true,
    body: NewCustomerToken,
    example: { customerId: 'acme', expiresInSeconds: 3600 },
    status: 201,
    response: CustomerToken,
    errors: ['customer_not_found', 'customer_archived'],
  }),
};
