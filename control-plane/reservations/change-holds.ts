import { decideHold } from '../../domain/rules/decide-hold.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import { illegalTransition } from '../changes/illegal-transition.ts';
import type { ReservationRow } from '../store/reservations.ts';
import type { Account, Amendment } from './account.ts';
import type { Decided } from './account-request.ts';
import type { HoldFacts } from './hold-facts.ts';
import { shownReservation } from './shown-reservation.ts';

/*
 * What requests do with an account while it is locked. Each throws before it changes anything.
 */

export interface NewHold {
  /** Decimal text. */
  amount: string;
  expiresInSeconds: number;
  /** As JSON. */
  properties: string | null;
  createdBy: string;
}

/** `known.meterKey` is there: without one nothing can be held. */
export function hold(
  account: Account,
  known: HoldFacts & { meterKey: string },
  asked: NewHold,
  now: Date,
): Decided {
  const { amount, expiresInSeconds, properties, createdBy } = asked;
  const { customerId, featureKey, meterKey, facts } = known;
  const question = { customerId, featureKey, requested: amount };
  const { decision, ...taken } = decideHold(question, facts, account.openHolds(meterKey));
  if (!decision.allowed) return denied(decision);
  const row: ReservationRow = {
    ...{ id: newId('rsv'), customerId, featureKey, meterKey, amount, status: 'held', properties, createdBy },
    ...{ createdAt: now, renewedAt: now, expiresAt: after(now, expiresInSeconds), endedAt: null },
  };
  account.hold(row, taken);
  const body = exactJson({ ...shownReservation(row, now), decision });
  return { status: 201, body, isKept: true, outcome: 'held' };
}

export interface HoldChange {
  amount: string | undefined;
  expiresInSeconds: number | undefined;
}

/** `known` where more is asked for. */
export function amendHold(
  account: Account,
  { id, known, change }: { id: string; known: HoldFacts | undefined; change: HoldChange },
  now: Date,
): Decided {
  const row = heldOf(account, id, 'held');
  const amount = change.amount ?? row.amount;
  const { expiresInSeconds } = change;
  const amendment: Amendment = {
    amount,
    ...(expiresInSeconds === undefined ? {} : { renewedAt: now, expiresAt: after(now, expiresInSeconds) }),
  };
  const more = decimalUnits(amount) - decimalUnits(row.amount);
  if (more <= 0n) return shown(account.amend(row, amendment), now);
  if (!known) {
    throw new Rejected('overloaded', 'The reservation was changed at the same time. Retry the request.');
  }
  requireSameMeter(row, known);
  const { customerId, featureKey } = known;
  const question = { customerId, featureKey, requested: unitsText(more) };
  const { decision, ...taken } = decideHold(question, known.facts, account.openHolds(row.meterKey));
  if (!decision.allowed) return { ...shown(row, now, { decision }), isKept: false, outcome: 'denied' };
  return shown(account.amend(row, amendment, taken), now, { decision });
}

/** More would be decided by the usage of another meter than that of which it holds. Throws Rejected. */
function requireSameMeter({ meterKey, featureKey }: ReservationRow, known: HoldFacts): void {
  if (known.meterKey === undefined || known.meterKey === meterKey) return;
  const message = `${featureKey} counts another meter now. Release this reservation and make another one.`;
  throw new Rejected('not_reservable', message);
}

export function releaseHold(account: Account, id: string, now: Date): Decided {
  const found = account.find(id);
  if (found?.status === 'released') return shown(found, now);
  const row = heldOf(account, id, 'released');
  return { ...shown(account.end(row, 'released', now), now), outcome: 'released' };
}

/** Throws Rejected `illegal_transition`. */
function heldOf(account: Account, id: string, to: string): ReservationRow {
  const row = account.find(id);
  if (!row) throw new Defect('a reservation of a request was not read');
  // mutant: ended-hold-ended-again
  if (row.status !== 'held') throw illegalTransition({ from: row.status, to, legal: [] });
  return row;
}

/** Nothing is kept. */
export function denied(decision: EntitlementDecision): Decided {
  return { status: 200, body: exactJson({ status: 'denied', decision }), isKept: false, outcome: 'denied' };
}

function shown(row: ReservationRow, now: Date, more: object = {}): Decided {
  return { status: 200, body: exactJson({ ...shownReservation(row, now), ...more }), isKept: true };
}

function after(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1_000);
}
