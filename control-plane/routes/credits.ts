import type { PoolClient } from 'pg';
import { endGrant } from '../../domain/credits/end-grant.ts';
import { grantCredits } from '../../domain/credits/move-credits.ts';
import { shownCredits, shownGrant } from '../../domain/credits/shown-grant.ts';
import { creditText, creditUnits } from '../../domain/rules/credit-units.ts';
import type { GrantRow } from '../../domain/store/credit-grants.ts';
import { Rejected } from '../../schemas/failures.ts';
import { exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import {
  type CreditGrant,
  type CreditLedgerEntry,
  CUSTOMER_GRANTS_MAX,
  type CustomerCredits,
} from '../../schemas/resources/credits.ts';
import { recordChange } from '../changes/record-change.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readDecimal } from '../input/read-decimal.ts';
import {
  type CreditsRow,
  countOpenGrants,
  type LedgerRow,
  listLedger,
  readCredits,
} from '../store/credits.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { lockSubscriber } from '../store/subscribed.ts';
import { givenTime } from '../subscriptions/read-times.ts';
import { customerNotFound } from '../usage/customer-meter.ts';

type CreditOperation = Extract<keyof Handlers, `credits.${string}`>;

export const creditHandlers: Pick<Handlers, CreditOperation> = {
  'credits.retrieve': async ({ db, environment, nowMs }, { params }) => {
    const question = { customer: params.customerId, at: new Date(nowMs) };
    return shownCredit(await readCredits(db, environment, question), params.customerId);
  },

  'credits.grant': async (context, { params, body, bodyText }) => {
    const { db, environment, nowMs } = context;
    const expiresAt = givenTime(body.expiresAt) ?? null;
    if (expiresAt && expiresAt.getTime() <= nowMs) throw hasExpired();
    const { amount } = parseExact(bodyText) as { amount: unknown };
    const { reason, priority } = body;
    const granted = { amount: readDecimal(amount, 'amount'), reason, priority, expiresAt };
    const customerId = await creditedCustomer(context, params.customerId);
    const place = { environment, customerId };
    const createdAt = new Date(nowMs);
    const row = await grantCredits(db, { id: newId('grant'), ...place, ...granted, createdAt });
    const after = shownGrant(row);
    const data = { customerId, amount: after.amount, reason };
    await recordChange(context, { objectId: row.id, after, events: [{ type: 'credit.granted', data }] });
    return after;
  },

  'credits.voidGrant': (context, { params, body }) =>
    changeExpiry(context, { ...params, ...body }, ({ expiresAt }) => {
      const now = new Date(context.nowMs);
      return expiresAt !== null && expiresAt <= now ? undefined : now;
    }),

  'credits.updateGrant': (context, { params, body }) => {
    const earlier = givenTime(body.expiresAt);
    if (!earlier || earlier.getTime() <= context.nowMs) throw hasExpired();
    return changeExpiry(context, { ...params, ...body }, ({ expiresAt }) => {
      if (expiresAt === null || expiresAt > earlier) return earlier;
      if (expiresAt.getTime() === earlier.getTime()) return undefined;
      throw notEarlier(expiresAt.getTime() <= context.nowMs);
    });
  },

  'credits.listLedger': async ({ db, environment }, { params, query }) => {
    const customerId = await findCustomerId(db, environment, params.customerId);
    if (customerId === undefined) throw customerNotFound(params.customerId);
    const { rows, total } = await listLedger(db, environment, { ...query, customerId });
    return pageOf(rows.map(shownLedgerEntry), total, query);
  },
};

/** Throws Rejected `customer_not_found` and `not_found`. */
async function changeExpiry(
  context: RequestContext,
  { customerId: name, grantId, reason }: { customerId: string; grantId: string; reason?: string },
  expiresAt: (grant: GrantRow) => Date | undefined,
): Promise<CreditGrant> {
  const { db, environment, nowMs } = context;
  const customerId = await findCustomerId(db, environment, name);
  if (customerId === undefined) throw customerNotFound(name);
  const place = { environment, customerId };
  const ended = await endGrant(db as PoolClient, place, { grantId, now: new Date(nowMs), expiresAt });
  if (!ended) {
    throw new Rejected('not_found', `The customer has no grant ${grantId}.`, { param: 'grantId' });
  }
  const [before, after] = [shownGrant(ended.before), shownGrant(ended.after)];
  if (before.expiresAt !== after.expiresAt) {
    const why = reason === undefined ? {} : { changeReason: reason };
    await recordChange(context, { objectId: grantId, before, after: { ...after, ...why } });
  }
  return after;
}

/**
 * Locked, so that concurrent requests count each other's grants. Throws Rejected: `customer_not_found`,
 * `customer_archived`, or when it has the maximum number of grants.
 */
async function creditedCustomer({ db, environment, nowMs }: RequestContext, name: string): Promise<string> {
  const customer = await lockSubscriber(db, environment, name);
  if (!customer) throw customerNotFound(name);
  const param = 'customerId';
  if (customer.status !== 'active') {
    throw new Rejected('customer_archived', 'The customer is archived and cannot get credits.', { param });
  }
  const open = await countOpenGrants(db, environment, { customerId: customer.id, at: new Date(nowMs) });
  if (open < CUSTOMER_GRANTS_MAX) return customer.id;
  const message =
    `A customer can have at most ${CUSTOMER_GRANTS_MAX} grants with credits left. ` +
    'Make fewer and larger grants.';
  throw new Rejected('invalid_request', message, { param });
}

/** Of one customer, which the error names. */
export function shownCredit(rows: readonly CreditsRow[], name: string): CustomerCredits {
  const [first] = rows;
  if (!first) throw customerNotFound(name);
  const grants = rows.filter(isGrant).map(shownGrant);
  const balance = rows.reduce((sum, { remaining }) => sum + creditUnits(remaining ?? '0'), 0n);
  const { customerId, unpaid } = first;
  return {
    customerId,
    balance: exactNumber(creditText(balance)),
    unpaid: shownCredits(unpaid ?? '0'),
    grants,
  };
}

function isGrant(row: CreditsRow): row is CreditsRow & GrantRow {
  return row.id !== null;
}

export function shownLedgerEntry(row: LedgerRow): CreditLedgerEntry {
  const { type, grantId, meterKey, periodStart, createdAt, updatedAt } = row;
  return {
    type,
    amount: shownCredits(row.amount),
    unpaid: shownCredits(row.unpaid),
    ...(grantId === null ? {} : { grantId }),
    ...(meterKey === null ? {} : { meterKey }),
    ...(periodStart === null ? {} : { periodStart: timestampText(periodStart.getTime()) }),
    createdAt: timestampText(createdAt.getTime()),
    updatedAt: timestampText(updatedAt.getTime()),
  };
}

function notEarlier(isOver: boolean): Rejected {
  if (isOver) return new Rejected('illegal_transition', 'The grant has expired.');
  const message = '`expiresAt` must be before the present expiry of the grant.';
  return new Rejected('invalid_request', message, { param: 'expiresAt' });
}

function hasExpired(): Rejected {
  return new Rejected('invalid_request', '`expiresAt` must be in the future.', { param: 'expiresAt' });
}
