import { decideEntitlement } from '../../domain/rules/decide-entitlement.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { EXPIRES_SECONDS } from '../../schemas/resources/reservations.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import { requestKeyOf } from '../http/idempotent.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readPlainValues } from '../input/read-metadata.ts';
import type { AccountQueue } from '../reservations/account-queue.ts';
import type { AccountRequest } from '../reservations/account-request.ts';
import type { WithFacts } from '../reservations/careful-facts.ts';
import { amendHold, denied, hold, releaseHold } from '../reservations/change-holds.ts';
import type { CommitUsage } from '../reservations/commit-usage.ts';
import type { HoldFacts, ReadHoldFacts } from '../reservations/hold-facts.ts';
import { featureKeyOf, readAmount } from '../reservations/hold-input.ts';
import { shownReservation } from '../reservations/shown-reservation.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findReservation, listReservations, type ReservationRow } from '../store/reservations.ts';

/** But for commits (commit.ts). */
type ReservationHandlers = Omit<
  Pick<Handlers, Extract<keyof Handlers, `reservations.${string}`>>,
  'reservations.commit'
>;

export interface ReservationHandlerDeps {
  accountQueue: AccountQueue;
  readHoldFacts: ReadHoldFacts;
  withFacts: WithFacts;
  commitUsage: CommitUsage;
}

export function createReservationHandlers(deps: ReservationHandlerDeps): ReservationHandlers {
  const { accountQueue, readHoldFacts, withFacts } = deps;

  const decided = createDecided(accountQueue);
  return {
    'reservations.create': async (context, { body, query: { consistency }, bodyText }) => {
      const amount = readAmount(bodyText) ?? '';
      const properties = readPlainValues(bodyText, 'properties') ?? null;
      const { customerId: customer, expiresInSeconds = EXPIRES_SECONDS, onExpiry = 'release' } = body;
      const featureKey = await featureKeyOf(context, readHoldFacts, body);
      const asked = { amount, expiresInSeconds, onExpiry, properties, createdBy: context.actor };
      return withFacts(context, { customer, featureKey, consistency }, async (known) => {
        const { meterKey, customerId, countedTo } = known;
        if (meterKey === undefined) return notHeld(known, amount);
        const decide: AccountRequest['decide'] = (account, now) =>
          hold(account, { ...known, meterKey }, asked, now);
        return decided(context, { customerId, countedTo, decide });
      });
    },

    'reservations.list': async ({ db, environment, nowMs }, { query }) => {
      const { customerId: customer, status, ...page } = query;
      const now = new Date(nowMs);
      const customerId = customer && ((await findCustomerId(db, environment, customer)) ?? '');
      const { rows, total } = await listReservations(db, environment, { customerId, status, now, ...page });
      return pageOf(
        rows.map((row) => shownReservation(row, now)),
        total,
        page,
      );
    },

    'reservations.retrieve': async (context, { params }) =>
      shownReservation(await findKnown(context, params.reservationId), new Date(context.nowMs)),

    'reservations.update': async (context, { params, body, query: { consistency }, bodyText }) => {
      const row = await findKnown(context, params.reservationId);
      const { id, customerId, featureKey } = row;
      const amount = readAmount(bodyText);
      const change = { amount, expiresInSeconds: body.expiresInSeconds };
      const amend = (facts?: HoldFacts) => {
        const decide: AccountRequest['decide'] = (account, now) =>
          amendHold(account, { id, known: facts, change }, now);
        return decided(context, { customerId, reservationId: id, countedTo: facts?.countedTo, decide });
      };
      const isMore = amount !== undefined && decimalUnits(amount) > decimalUnits(row.amount);
      return isMore ? withFacts(context, { customer: customerId, featureKey, consistency }, amend) : amend();
    },

    'reservations.release': async (context, { params }) => {
      const { id, customerId } = await findKnown(context, params.reservationId);
      const decide: AccountRequest['decide'] = (account, now) => releaseHold(account, id, now);
      return decided(context, { customerId, reservationId: id, decide });
    },
  };
}

/** Has the request decided under the lock of its customer's account. */
function createDecided(accountQueue: AccountQueue) {
  return async (
    context: RequestContext,
    request: Pick<AccountRequest, 'customerId' | 'reservationId' | 'countedTo' | 'decide'>,
  ) => new CommittedResponse(await accountQueue.decide({ ...requestOf(context), ...request }));
}

/** What every change under the lock of an account has of its request. */
export function requestOf({ change, environment }: RequestContext) {
  if (!change) throw new Defect('an operation that commits itself has its request');
  return { environment, change, key: requestKeyOf(change) };
}

/** Throws Rejected `not_found`. */
export async function findKnown(context: RequestContext, id: string): Promise<ReservationRow> {
  const row = await findReservation(context.db, context.environment, id);
  if (row) return row;
  throw new Rejected('not_found', `There is no reservation ${id}.`, { param: 'reservationId' });
}

/** The customer does not have the feature: no account is needed to deny it. */
function notHeld({ customerId, featureKey, facts }: HoldFacts, requested: string): CommittedResponse {
  const decision = decideEntitlement({ customerId, featureKey, requested }, facts);
  return new CommittedResponse({ ...denied(decision), replayed: false });
}
