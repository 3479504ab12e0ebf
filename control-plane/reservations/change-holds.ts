import { decideHold } from '../../domain/rules/decide-hold.ts';
import { Defect, Rejected, Transient } from '../../schemas/failures.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { exactJson } from '../../schemas/primitives/exact-json.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import type { EntitlementDecision } from '../../schemas/resources/entitlements.ts';
import type { OnExpiry } from '../../schemas/resources/reservations.ts';
import { illegalTransition } from '../changes/illegal-transition.ts';
import type { ReservationRow } from '../store/reservations.ts';
import type { Account } from './account.ts';
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
  onExpiry: OnExpiry;
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
  const { decision, ...taken } = decide(account, known, asked.amount);
  requireCertainty(account, { known, decision }, now);
  if (!decision.allowed) return denied(decision);
  const row = newReservation(known, asked, now);
  account.hold(row, taken);
  const body = exactJson({ ...shownReservation(row, now), decision });
  return { status: 201, body, isKept: true, outcome: 'held' };
}

/** Throws as {@link requireCertainty}. */
export function decide(account: Account, known: HoldFacts & { meterKey: string }, requested: string) {
  const { customerId, featureKey, meterKey, facts, countedTo } = known;
  return decideHold({ customerId, featureKey, requested }, facts, account.openHolds(meterKey, countedTo));
}

/**
 * Commits that the counter may have already take something as well, so that nothing is granted twice. What
 * they deny may fit all the same; and a counter from long ago may lack commits that take nothing any more.
 * Throws Uncertain: facts have to be read that are known to have them (careful-facts.ts).
 */
export function requireCertainty(
  account: Account,
  { known, decision }: { known: HoldFacts; decision: EntitlementDecision },
  now: Date,
): void {
  const { countedTo, facts } = known;
  const { allowed, reasonCode } = decision;
  const isFull = !allowed && (reasonCode === 'limit_reached' || reasonCode === 'insufficient_credit');
  // mutant: denied-by-what-is-counted-twice
  if (isFull && account.mayCountTwice(countedTo)) throw new Uncertain();
  if (countedTo !== undefined || !account.hasCommits()) return;
  if (now.getTime() - (facts.counter?.asOfMs ?? 0) > COUNTER_AGE_MS_MAX) throw new Uncertain();
}

/** Well under the time for which a commit takes something after it was counted (counted-commits.ts). */
const COUNTER_AGE_MS_MAX = 5_000;

/** A request has to be decided again, by other facts. */
export class Uncertain extends Transient {
  constructor() {
    super('counter_uncertain', 'What was used lately may be counted or not.');
  }
}

export function newReservation(
  { customerId, featureKey, meterKey, countsEvents }: HoldFacts & { meterKey: string },
  { amount, expiresInSeconds, onExpiry, properties, createdBy }: NewHold,
  now: Date,
): ReservationRow {
  return {
    ...{ id: newId('rsv'), customerId, featureKey, meterKey, countsEvents, amount, reserved: amount },
    ...{ status: 'held', onExpiry, properties, createdBy, createdAt: now, renewedAt: now },
    ...{ expiresAt: after(now, expiresInSeconds), endedAt: null, value: null, occurredAt: null },
    ...{ eventProperties: null, late: false, committingAt: null, event: null, decision: null },
  };
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
  const amendment = {
    amount,
    reserved: amount,
    ...(expiresInSeconds === undefined ? {} : { renewedAt: now, expiresAt: after(now, expiresInSeconds) }),
  };
  const more = decimalUnits(amount) - decimalUnits(row.amount);
  if (more <= 0n) return shown(account.amend(row, amendment), now);
  if (!known) {
    throw new Rejected('overloaded', 'The reservation was changed at the same time. Retry the request.');
  }
  requireSameMeter(row, known);
  const { decision, ...taken } = decide(account, { ...known, meterKey: row.meterKey }, unitsText(more));
  requireCertainty(account, { known, decision }, now);
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
  if (row.status !== 'held') throw illegalTransition({ from: endOf(row), to, legal: [] });
  return row;
}

/** What it is, or becomes as soon as its event is written. */
function endOf({ status }: ReservationRow): string {
  return status === 'committing' ? 'committed' : status;
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
