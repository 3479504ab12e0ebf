import { createHash } from 'node:crypto';
import { decideEntitlement } from '../../domain/rules/decide-entitlement.ts';
import { Rejected } from '../../schemas/failures.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { base32 } from '../../schemas/primitives/ids.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import { EXPIRES_SECONDS } from '../../schemas/resources/reservations.ts';
import { CommittedResponse } from '../http/committed-response.ts';
import { keyReused } from '../http/idempotent.ts';
import type { Handlers } from '../http/request-context.ts';
import { readPlainValues } from '../input/read-metadata.ts';
import type { Account } from '../reservations/account.ts';
import type { Decided } from '../reservations/account-request.ts';
import { decide, type NewHold, requireCertainty } from '../reservations/change-holds.ts';
import { consume } from '../reservations/commit-holds.ts';
import type { HoldFacts } from '../reservations/hold-facts.ts';
import { featureKeyOf, readAmount } from '../reservations/hold-input.ts';
import { consumedBody } from '../reservations/shown-reservation.ts';
import type { ReservationRow } from '../store/reservations.ts';
import { type ReservationHandlerDeps, requestOf } from './reservations.ts';

type ConsumeHandlers = Pick<Handlers, 'entitlements.consume'>;

export function createConsumeHandlers(deps: ReservationHandlerDeps): ConsumeHandlers {
  const { readHoldFacts, withFacts, commitUsage } = deps;
  return {
    'entitlements.consume': async (context, { body, query: { consistency }, bodyText }) => {
      const amount = readAmount(bodyText) ?? '';
      const properties = readPlainValues(bodyText, 'properties') ?? null;
      const request = requestOf(context);
      const { key } = request;
      if (!key) throw KEY_MISSING();
      const featureKey = await featureKeyOf(context, readHoldFacts, body);
      const asked: NewHold = {
        ...{ amount, properties, createdBy: context.actor },
        ...{ expiresInSeconds: EXPIRES_SECONDS, onExpiry: 'release' },
      };
      const question = { customer: body.customerId, featureKey, consistency };
      return withFacts(context, question, async (known) => {
        const { customerId, countedTo, facts } = known;
        // Without an account, which it would not be worth.
        if (facts.customer === 'unknown') return denial(known, amount);
        const id = idOf([key.environment, key.key, customerId]);
        const response = await commitUsage({
          ...request,
          ...{ customerId, reservationId: id, countedTo },
          begin: (account, now) => beginToConsume(account, known, { ...asked, id }, now),
          respond: consumedBody,
        });
        return new CommittedResponse(response);
      });
    },
  };
}

/** The same request again means the same reservation, after a crash too: an amount is used once for a key. */
function idOf(named: string[]): string {
  return `rsv_${base32(createHash('sha256').update(JSON.stringify(named)).digest().subarray(0, 16))}`;
}

/** Throws as decisions do, and Rejected where its key stands for something else. */
function beginToConsume(
  account: Account,
  known: HoldFacts,
  asked: NewHold & { id: string },
  now: Date,
): ReservationRow | Decided {
  const begun = account.find(asked.id);
  // mutant: consumed-again-by-its-key
  if (begun && begun.status !== 'released') return requireSame(begun, known, asked);
  const { meterKey } = known;
  if (meterKey === undefined) return deniedByFacts(known, asked.amount);
  requireEvents(known, asked);
  const verdict = decide(account, { ...known, meterKey }, asked.amount);
  const { decision } = verdict;
  requireCertainty(account, { known, decision }, now);
  if (!decision.allowed) return deniedBy(decision);
  return consume(account, { ...known, meterKey }, { ...asked, verdict, decision: exactJson(decision) }, now);
}

function requireSame(
  begun: ReservationRow,
  { featureKey }: HoldFacts,
  { amount, properties }: NewHold,
): ReservationRow {
  const isSame =
    begun.featureKey === featureKey &&
    decimalUnits(begun.amount) === decimalUnits(amount) &&
    begun.eventProperties === properties;
  if (!isSame) throw keyReused();
  return begun;
}

function requireEvents({ countsEvents, featureKey }: HoldFacts, { amount }: NewHold): void {
  if (!countsEvents || decimalUnits(amount) === ONE) return;
  const message = `${featureKey} counts events: what is used at once is 1 of it.`;
  throw new Rejected('value_invalid', message, { param: 'amount' });
}

const ONE = decimalUnits('1');

/** The customer does not have the feature. */
function deniedByFacts({ customerId, featureKey, facts }: HoldFacts, requested: string): Decided {
  return deniedBy(decideEntitlement({ customerId, featureKey, requested }, facts));
}

function denial(known: HoldFacts, requested: string): CommittedResponse {
  return new CommittedResponse({ ...deniedByFacts(known, requested), replayed: false });
}

function deniedBy(decision: EntitlementDecision): Decided {
  return { status: 200, body: exactJson({ decision }), isKept: false, outcome: 'denied' };
}

const KEY_MISSING = () =>
  new Rejected('idempotency_key_missing', 'Send an Idempotency-Key: it says which use this is.', {
    param: 'Idempotency-Key',
  });
