import type { WrittenEvent } from '../../infra/ports/usage-writer.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { illegalTransition } from '../changes/illegal-transition.ts';
import type { ReservationRow } from '../store/reservations.ts';
import { type Account, reservedWhileCommitting } from './account.ts';
import { type decide, type NewHold, newReservation } from './change-holds.ts';
import type { HoldFacts } from './hold-facts.ts';

/*
 * A commit in three steps: it begins (a transaction), its event is written (to the log), it is finished (a
 * transaction). Whatever ends in between is finished later with the same event: its key is the reservation.
 */

export interface Usage {
  /** Decimal text; undefined: the amount that is held. */
  value: string | undefined;
  /** Undefined: now. */
  occurredAt: Date | undefined;
  /** As JSON; undefined: those of the reservation. */
  properties: string | undefined;
}

/** The reservation as it is committing, or committed. Throws Rejected `illegal_transition`. */
export function beginCommit(account: Account, id: string, usage: Usage, now: Date): ReservationRow {
  const row = account.find(id);
  if (!row) throw new Defect('a reservation of a request was not read');
  if (row.status === 'committing' || row.status === 'committed') return row;
  // mutant: released-hold-committed
  if (row.status === 'released') {
    throw illegalTransition({ from: row.status, to: 'committed', legal: [] });
  }
  return begin(account, row, { ...usage, now });
}

function begin(account: Account, row: ReservationRow, usage: Usage & { now: Date }): ReservationRow {
  const { value = row.countsEvents ? '1' : row.amount, occurredAt, properties, now } = usage;
  const used = usedBy(row, value);
  const late = row.status === 'expired';
  // mutant: commit-not-begun
  return account.amend(row, {
    status: 'committing',
    value,
    occurredAt: occurredAt ?? now,
    eventProperties: properties ?? row.properties,
    late,
    committingAt: now,
    endedAt: null,
    reserved: late ? used : reservedWhileCommitting(row.amount, used),
  });
}

/** What the counter has of an event, where it adds up values or events. */
function usedBy({ countsEvents }: Pick<ReservationRow, 'countsEvents'>, value: string): string {
  return countsEvents ? '1' : value;
}

/** Ends one whose time is over: by its release, or by a commit of all of it. */
export function expire(account: Account, row: ReservationRow, now: Date): void {
  if (row.onExpiry === 'release') account.end(row, 'expired', row.expiresAt);
  else begin(account, row, { value: undefined, occurredAt: row.expiresAt, properties: undefined, now });
}

/** Of what is consumed: a reservation that is committing from the first. */
export function consume(
  account: Account,
  known: HoldFacts & { meterKey: string },
  asked: NewHold & { id: string; verdict: ReturnType<typeof decide>; decision: string },
  now: Date,
): ReservationRow {
  const { id, verdict, decision } = asked;
  const row: ReservationRow = {
    ...newReservation(known, asked, now),
    ...{ id, decision, status: 'committing', committingAt: now },
    ...{ value: asked.amount, occurredAt: now, eventProperties: asked.properties },
  };
  const before = account.find(id);
  if (before) return account.amend(before, row, verdict);
  account.hold(row, verdict);
  return row;
}

/**
 * When its event is durable: the reservation as it is now. One that is committed stays as it is. Whatever
 * else was made of it meanwhile, the event is true: `begun` is what was written.
 */
export function finishCommit(
  account: Account,
  begun: ReservationRow,
  event: string,
  now: Date,
): ReservationRow {
  const row = account.find(begun.id);
  if (!row) throw new Defect('a reservation of a request was not read');
  // mutant: committed-twice
  if (row.status === 'committed') return row;
  const { value, occurredAt, eventProperties, late } = begun;
  // mutant: commit-takes-nothing
  const reserved = usedBy(row, value ?? '0');
  const usage = { value, occurredAt, eventProperties, late };
  return account.amend(row, { ...usage, status: 'committed', event, reserved, endedAt: now });
}

/** When its event can never be written, as of a customer that was archived: as if nothing had been asked. */
export function undoCommit(account: Account, id: string, now: Date): void {
  const row = account.find(id);
  if (row?.status !== 'committing') return;
  const rest = { value: null, occurredAt: null, eventProperties: null, late: false, committingAt: null };
  const isOver = row.late || row.expiresAt <= now;
  if (row.decision !== null) account.amend(row, { ...rest, status: 'released', reserved: '0', endedAt: now });
  else if (isOver) account.amend(row, { ...rest, status: 'expired', reserved: '0', endedAt: row.expiresAt });
  else account.amend(row, { ...rest, status: 'held', reserved: row.amount });
}

/** What is written of a commit. */
export function eventOf({ id, customerId, meterKey, value, occurredAt, eventProperties }: ReservationRow) {
  if (value === null || occurredAt === null) throw new Defect('a commit has a value and a time');
  return {
    ...{ idempotencyKey: id, customerId, meterId: meterKey, value: unitsText(decimalUnits(value)) },
    ...{ occurredAt: occurredAt.toISOString(), properties: eventProperties },
  };
}

/** Throws Rejected, as the event was. */
export function throwRejection({ rejection }: Extract<WrittenEvent, { status: 'error' }>): never {
  const { code, message, param, details } = rejection;
  throw new Rejected(code, message, { ...(param ? { param } : {}), ...(details ? { details } : {}) });
}
