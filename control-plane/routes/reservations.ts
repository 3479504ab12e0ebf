import { decideEntitlement } from '../../domain/rules/decide-entitlement.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { parseExact } from '../../schemas/primitives/exact-json.ts';
import { EXPIRES_SECONDS, type NewReservation } from '../../schemas/resources/reservations.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import { requestKeyOf } from '../http/idempotent.ts';
import { pageOf } from '../http/page.ts';
import type { Handlers, RequestContext } from '../http/request-context.ts';
import { readDecimal } from '../input/read-decimal.ts';
import { readPlainValues } from '../input/read-metadata.ts';
import type { AccountQueue } from '../reservations/account-queue.ts';
import type { AccountRequest } from '../reservations/account-request.ts';
import { amendHold, denied, hold, releaseHold } from '../reservations/change-holds.ts';
import type { HoldFacts, ReadHoldFacts } from '../reservations/hold-facts.ts';
import { shownReservation } from '../reservations/shown-reservation.ts';
import { findFeaturesOfMeter } from '../store/features.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findReservation, listReservations, type ReservationRow } from '../store/reservations.ts';
import { findKnownMeter } from '../usage/customer-meter.ts';

type ReservationHandlers = Pick<Handlers, Extract<keyof Handlers, `reservations.${string}`>>;

export interface ReservationHandlerDeps {
  accountQueue: AccountQueue;
  readHoldFacts: ReadHoldFacts;
}

export function createReservationHandlers(deps: ReservationHandlerDeps): ReservationHandlers {
  const { accountQueue, readHoldFacts } = deps;

  const decided = createDecided(accountQueue);

  return {
    'reservations.create': async (context, { body, query: { consistency }, bodyText }) => {
      const amount = readAmount(bodyText) ?? '';
      const properties = readPlainValues(bodyText, 'properties') ?? null;
      const { customerId: customer, expiresInSeconds = EXPIRES_SECONDS } = body;
      const features = await featuresOf(context, body);
      const read = (featureKey: string) => readHoldFacts(context, { customer, featureKey, consistency });
      const known = theOneHeld(await Promise.all(features.map(read)));
      const { meterKey, customerId } = known;
      if (meterKey === undefined) return notHeld(known, amount);
      const asked = { amount, expiresInSeconds, properties, createdBy: context.actor };
      const decide: AccountRequest['decide'] = (account, now) =>
        hold(account, { ...known, meterKey }, asked, now);
      return decided(context, { customerId, decide });
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
      shownReservation(await known(context, params.reservationId), new Date(context.nowMs)),

    'reservations.update': async (context, { params, body, query: { consistency }, bodyText }) => {
      const row = await known(context, params.reservationId);
      const { id, customerId, featureKey } = row;
      const amount = readAmount(bodyText);
      const isMore = amount !== undefined && decimalUnits(amount) > decimalUnits(row.amount);
      const asked = { customer: customerId, featureKey, consistency };
      const facts = isMore ? await readHoldFacts(context, asked) : undefined;
      const change = { amount, expiresInSeconds: body.expiresInSeconds };
      const decide: AccountRequest['decide'] = (account, now) =>
        amendHold(account, { id, known: facts, change }, now);
      return decided(context, { customerId, reservationId: id, decide });
    },

    'reservations.release': async (context, { params }) => {
      const { id, customerId } = await known(context, params.reservationId);
      const decide: AccountRequest['decide'] = (account, now) => releaseHold(account, id, now);
      return decided(context, { customerId, reservationId: id, decide });
    },
  };
}

/** Has the request decided under the lock of its customer's account. */
function createDecided(accountQueue: AccountQueue) {
  return async (
    { change, environment }: RequestContext,
    request: Pick<AccountRequest, 'customerId' | 'reservationId' | 'decide'>,
  ): Promise<CommittedResponse> => {
    if (!change) throw new Defect('an operation that commits itself has its request');
    const key = requestKeyOf(change);
    return new CommittedResponse(await accountQueue.decide({ environment, change, key, ...request }));
  };
}

/** Exact to the last digit. Throws Rejected `value_invalid`. */
function readAmount(bodyText: string): string | undefined {
  const { amount } = parseExact(bodyText) as Pick<NewReservation, 'amount'>;
  if (amount === undefined) return undefined;
  const text = readDecimal(amount, 'amount');
  if (decimalUnits(text) > 0n) return text;
  throw new Rejected('value_invalid', '`amount` must be above 0.', { param: 'amount' });
}

/** The feature that is named, or those that count the named meter. Throws Rejected. */
async function featuresOf(
  context: RequestContext,
  { featureKey, meterId }: Pick<NewReservation, 'featureKey' | 'meterId'>,
): Promise<string[]> {
  if (featureKey !== undefined && meterId !== undefined) {
    throw invalid('meterId', 'cannot be combined with `featureKey`');
  }
  if (featureKey !== undefined) return [featureKey];
  if (meterId === undefined) throw invalid('featureKey', 'is required, or `meterId`');
  const meter = await findKnownMeter(context, meterId);
  const features = await findFeaturesOfMeter(context.db, context.environment, meter.key, FEATURES_MAX + 1);
  if (features.length > FEATURES_MAX)
    throw invalid('meterId', 'is counted by many features: send `featureKey`');
  if (features.length > 0) return features.map(({ key }) => key);
  const message = `No feature counts the meter ${meter.key}, so that it has no limit.`;
  throw new Rejected('feature_not_found', message, { param: 'meterId' });
}

/** Of one meter, among which the one is sought that the customer has. */
const FEATURES_MAX = 10;

/** Of features of one meter the one that the customer has; where it has none, any: it is denied. */
function theOneHeld(all: HoldFacts[]): HoldFacts {
  const held = all.filter(({ meterKey }) => meterKey !== undefined);
  const [known = all[0]] = held;
  if (held.length > 1) throw invalid('meterId', 'is counted by several features of it: send `featureKey`');
  if (!known) throw new Defect('a reservation names a feature');
  return known;
}

/** Throws Rejected `not_found`. */
async function known(context: RequestContext, id: string): Promise<ReservationRow> {
  const row = await findReservation(context.db, context.environment, id);
  if (row) return row;
  throw new Rejected('not_found', `There is no reservation ${id}.`, { param: 'reservationId' });
}

/** The customer does not have the feature: no account is needed to deny it. */
function notHeld({ customerId, featureKey, facts }: HoldFacts, requested: string): CommittedResponse {
  const decision = decideEntitlement({ customerId, featureKey, requested }, facts);
  return new CommittedResponse({ ...denied(decision), replayed: false });
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}
