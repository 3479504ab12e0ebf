import { type Static, type TSchema, Type } from 'typebox';
import { API_BASE, defineRoute } from '../route.ts';
import { CustomerParams } from './customers.ts';
import { Decimal, Name, NamedId, Nothing, PageQuery, pageOf, Timestamp } from './fields.ts';

/** Grants of one customer with credits left: one response contains all of them. */
export const CUSTOMER_GRANTS_MAX = 500;
/** In the middle, so that other grants can come before and after it. */
export const PRIORITY_DEFAULT = 100;

export const Priority = Type.Integer({
  minimum: 0,
  maximum: 1_000,
  description:
    'Grants with a lower priority are burned first; of equal ones the first to expire, then the oldest.',
});
const Amount = Type.Unsafe<Static<typeof Decimal>>({ ...Decimal, minimum: 0 });

const EXPIRES_AT = 'When the rest of the grant expires. Must be in the future. Default: never.';
const BALANCE = 'Credits left in all grants.';
const UNPAID = 'Cost of usage that no credits were left for. The next grant pays it first.';
const GRANTS = 'Grants with credits left that have not expired, in the order in which they are burned.';
const BALANCE_CHANGE = 'Change of the balance. The balance is the sum of all entries.';
const UNPAID_CHANGE = 'Change of the unpaid amount, which is the sum of all entries.';
const ENTRY_TYPE =
  '`grant`: credits were granted. `repayment`: a grant paid an unpaid amount. `burn`: usage of a meter ' +
  'burned credits. `reversal`: a correction of usage returned credits. `expiry`: the rest of a grant ' +
  'expired, or the grant was voided.';
const PERIOD_START = 'Start of the billing period that the usage belongs to.';
const UPDATED_AT = 'Later than `createdAt` when the meter burned credits again within the same hour (UTC).';

export const CreditGrant = Type.Object({
  id: Type.String(),
  customerId: Type.String(),
  amount: Amount,
  remaining: Amount,
  reason: Type.String(),
  priority: Priority,
  expiresAt: Type.Optional(Timestamp),
  recurring: Type.Optional(
    Type.Object(
      { subscriptionId: Type.String(), key: Type.String(), periodStart: Timestamp },
      { description: 'Of a grant that a plan makes: for which subscription, key and period.' },
    ),
  ),
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

const Reason = Type.Optional({ ...Name, description: 'Kept in the audit log.' });
export const GrantVoid = Type.Object({ reason: Reason });
export const CreditGrantPatch = Type.Object({
  expiresAt: described(Timestamp, 'In the future, and before the present expiry.'),
  reason: Reason,
});

const PATH = `${API_BASE}/customers/{customerId}/credits` as const;
const grantParams = Type.Object({ ...CustomerParams.properties, grantId: NamedId });

export const creditRoutes = {
  'credits.retrieve': defineRoute({
    method: 'GET',
    path: PATH,
    plane: 'control',
    access: 'entitlements:read',
    summary: "Retrieve a customer's credits: balance, unpaid amount and grants",
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
      'Usage of a meter with a credit rate burns credits. If the customer has a limit on the meter, only ' +
      'usage beyond the limit burns them. The grant pays an unpaid amount at once.',
    params: CustomerParams,
    query: Nothing,
    body: NewCreditGrant,
    example: { amount: 250, reason: 'Welcome credits', priority: 10 },
    status: 201,
    response: CreditGrant,
    errors: ['customer_not_found', 'customer_archived', 'value_invalid'],
  }),
  'credits.voidGrant': defineRoute({
    method: 'POST',
    path: `${PATH}/{grantId}/void`,
    plane: 'control',
    access: 'subscriptions:write',
    summary: 'Void a grant of credits',
    description:
      'It expires now: what is left of it leaves the balance. What it has paid for stays paid; credits ' +
      'that come back to it later, by a correction of usage, expire at once. Again: the same response.',
    params: grantParams,
    query: Nothing,
    body: GrantVoid,
    bodyOptional: true,
    example: { reason: 'Granted ten times as much.' },
    status: 200,
    response: CreditGrant,
    errors: ['customer_not_found', 'not_found'],
  }),
  'credits.updateGrant': defineRoute({
    method: 'PATCH',
    path: `${PATH}/{grantId}`,
    plane: 'control',
    access: 'subscriptions:write',
    summary: 'Let a grant of credits expire earlier',
    params: grantParams,
    query: Nothing,
    body: CreditGrantPatch,
    example: { expiresAt: '2090-01-01T00:00:00Z', reason: 'Was meant for one quarter.' },
    status: 200,
    response: CreditGrant,
    errors: ['customer_not_found', 'not_found', 'illegal_transition'],
  }),
  'credits.listLedger': defineRoute({
    method: 'GET',
    path: `${PATH}/ledger`,
    plane: 'control',
    access: 'entitlements:read',
    summary: "List a customer's credit ledger, newest first",
    description:
      'A grant leaves the balance at its `expiresAt`; the ledger entry follows within 10 s. The credits ' +
      'that a meter burns within one hour are one entry, which grows during that hour.',
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
