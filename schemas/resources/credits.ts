import { type Static, type TSchema, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, Name, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

/** That have something left, of one customer: all of them are shown at once. */
export const CUSTOMER_GRANTS_MAX = 500;
/** There is room before and behind it. */
const PRIORITY_DEFAULT = 100;

const Priority = Type.Integer({
  minimum: 0,
  maximum: 1_000,
  description: 'The lower is burned first; of equals what expires first, then the oldest.',
});
const Amount = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, minimum: 0 });

const EXPIRES_AT = 'Lies ahead. From then on nothing of it is burned. Left out: it never expires.';
const BALANCE = 'What the grants have left.';
const UNPAID = 'What usage has cost beyond all credits. The next grant pays it first.';
const GRANTS = 'Those that have something left and have not expired, the next to be burned first.';
const BALANCE_CHANGE = 'What the balance changed by: all entries add up to it.';
const UNPAID_CHANGE = 'What the unpaid rest changed by: all entries add up to it.';
const ENTRY_TYPE =
  'A grant came; it paid the unpaid rest; usage of a meter burned credits; usage that was corrected gave ' +
  'back what it had burned; the rest of a grant expired.';
const PERIOD_START = 'Of the billing period to which the usage belongs.';
const UPDATED_AT = 'Later than `createdAt` where the meter burned again within the same hour (UTC).';

export const CreditGrant = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  amount: Amount,
  remaining: Amount,
  reason: Type.String(),
  priority: Priority,
  expiresAt: Type.Optional(Timestamp),
  createdAt: Timestamp,
});
export type CreditGrant = Static<typeof CreditGrant>;

export const NewCreditGrant = Type.Object({
  amount: Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, exclusiveMinimum: 0 }),
  reason: Name,
  expiresAt: Type.Optional(described(Timestamp, EXPIRES_AT)),
  priority: Type.Integer({ ...Priority, default: PRIORITY_DEFAULT }),
});

export const CustomerCredits = Type.Object({
  customerId: Type.String(),
  balance: described(Amount, BALANCE),
  unpaid: described(Amount, UNPAID),
  grants: Type.Array(CreditGrant, { description: GRANTS }),
});
export type CustomerCredits = Static<typeof CustomerCredits>;

export const CreditLedgerEntry = Type.Object({
  type: Type.Enum(['grant', 'repayment', 'burn', 'reversal', 'expiry'], { description: ENTRY_TYPE }),
  amount: described(Decimal, BALANCE_CHANGE),
  unpaid: described(Decimal, UNPAID_CHANGE),
  grantId: Type.Optional(Type.String()),
  meterKey: Type.Optional(Type.String()),
  periodStart: Type.Optional(described(Timestamp, PERIOD_START)),
  createdAt: Timestamp,
  updatedAt: described(Timestamp, UPDATED_AT),
});
export type CreditLedgerEntry = Static<typeof CreditLedgerEntry>;

const PATH = `${API_BASE}/customers/{customerId}/credits` as const;

export const creditRoutes = {
  'credits.retrieve': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'entitlements:read',
    summary: "Read a customer's credits: balance, unpaid rest and grants",
    params: CustomerParams,
    query: Nothing,
    status: 200,
    response: CustomerCredits,
    etag: true,
    errors: ['customer_not_found'],
  }),
  'credits.grant': defineRoute({
    method: 'POST',
    path: PATH,
    plane: 'control',
    access: 'subscriptions:write',
    summary: 'Grant credits to a customer',
    description:
      'Usage of a meter with a credit rate burns them; where the customer has a limit on that meter, only ' +
      'usage beyond it does. An unpaid rest is paid out of the grant at once.',
    params: CustomerParams,
    query: Nothing,
    body: NewCreditGrant,
    example: { amount: 250, reason: 'Welcome credits', priority: 10 },
    status: 201,
    response: CreditGrant,
    errors: ['customer_not_found', 'customer_archived', 'value_invalid'],
  }),
  'credits.listLedger': defineRoute({
    method: 'GET',
    path: `${PATH}/ledger`,
    plane: 'control',
    access: 'entitlements:read',
    summary: "List what moved a customer's credits, newest first",
    description:
      'What has expired is no part of the balance from its moment on; its entry comes within 10 s. What ' +
      'one meter burns within one hour is one entry, which grows meanwhile.',
    params: CustomerParams,
    query: PageQuery,
    status: 200,
    response: pageOf(CreditLedgerEntry),
    errors: ['customer_not_found'],
  }),
};

function described<S extends TSchema>(schema: S, description: string): S {
  return { ...schema, description };
}
