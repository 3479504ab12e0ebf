import {
  type BillingCycle,
  cycleAfter,
  cycleOf,
  cycleThrough,
  later,
  type PeriodLength,
  type SubscriptionTerm,
} from '../../domain/rules/billing-period.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { SubscriptionPatch } from '../../schemas/resources/subscriptions.ts';
import type { SubscriptionStatus } from '../../schemas/value-sets.ts';

import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { endOfTerm } from './end-of-term.ts';
import { otherLength } from './period-length.ts';
import { givenTime, requirePeriod } from './read-times.ts';
import { fieldsOfTerm, startMoved, type TermFields, termOfRow } from './subscription-fields.ts';

/** The result of a change, apart from its period. */
interface Destination {
  status: SubscriptionStatus;
  trialEnd: Date | null;
  nowMs: number;
}

type PatchedTerm = TermFields &
  Pick<SubscriptionFields, 'startsAt' | 'trialEnd' | 'cancelAt' | 'cancelsAtPeriodEnd'>;

/**
 * The period after a change, and what moves with it: its series of periods, and a cancellation at its end.
 * Another interval begins with the period after the running one. Throws Rejected.
 */
export function patchedTerm(row: SubscriptionRow, body: SubscriptionPatch, to: Destination): PatchedTerm {
  const before = termOfRow(row);
  const length = otherLength(before.cycle, body);
  const isOver = leavesTrial(row, body, to);
  const trialEnd = isOver && body.trialEnd === undefined ? new Date(to.nowMs) : to.trialEnd;
  const period = isOver
    ? { fromMs: to.nowMs, toMs: later(length ?? before.cycle, to.nowMs, 1) }
    : givenPeriod(row, body, to);
  const isTrial = to.status === 'trialing' && period.toMs === to.trialEnd?.getTime();
  const cycle = cycleOfPatched(before, period, { length, isTrial });
  const fields = { ...fieldsOfTerm({ cycle, period }), ...startMoved(row, period, to.nowMs), trialEnd };
  return { ...fields, ...patchedCancellation(row, body, { ...fields, status: to.status }) };
}

/**
 * Whether the change ends the trial early, so that the first paid period begins now. Not if the caller or the
 * processor sets when that begins, or if the trial was not a period of its own.
 */
function leavesTrial(row: SubscriptionRow, body: SubscriptionPatch, { status, nowMs }: Destination): boolean {
  if (row.status !== 'trialing' || (status !== 'active' && status !== 'past_due')) return false;
  if (body.currentPeriodStart !== undefined || body.currentPeriodEnd !== undefined) return false;
  const isOwnPeriod = row.trialEnd?.getTime() === row.currentPeriodEnd.getTime();
  const isRunning = row.currentPeriodStart.getTime() <= nowMs && nowMs < row.currentPeriodEnd.getTime();
  return isOwnPeriod && isRunning && row.processorSubscriptionId === null;
}

/** A trial that begins, or is moved, moves the end of its period. Throws Rejected. */
function givenPeriod(row: SubscriptionRow, body: SubscriptionPatch, to: Destination): Span {
  const isOtherTrial = to.status !== row.status || to.trialEnd?.getTime() !== row.trialEnd?.getTime();
  const trialEnd = to.status === 'trialing' && isOtherTrial ? to.trialEnd : undefined;
  const start = givenTime(body.currentPeriodStart);
  const end = givenTime(body.currentPeriodEnd);
  const period = {
    fromMs: (start ?? row.currentPeriodStart).getTime(),
    toMs: (end ?? trialEnd ?? row.currentPeriodEnd).getTime(),
  };
  if (start || end || trialEnd) requirePeriod(period, !end && trialEnd ? 'trialEnd' : 'currentPeriodEnd');
  return period;
}

/**
 * On the old series if the period still ends on it. The first period after a trial begins at the trial's end.
 */
function cycleOfPatched(
  before: SubscriptionTerm,
  period: Span,
  { length, isTrial }: { length: PeriodLength | undefined; isTrial: boolean },
): BillingCycle {
  const isOtherPeriod = period.fromMs !== before.period.fromMs || period.toMs !== before.period.toMs;
  if (isTrial && period.toMs !== before.period.toMs) {
    return { ...cycleOf(period, length ?? before.cycle), anchorMs: period.toMs };
  }
  const cycle = isOtherPeriod ? cycleThrough(before.cycle, period) : before.cycle;
  if (!length) return cycle;
  const isWhole = isOtherPeriod && later(length, period.fromMs, 1) === period.toMs;
  return isWhole ? cycleOf(period, length) : cycleAfter({ cycle, period }, length);
}

/**
 * A cancellation at the end of the period or of the trial moves with that end. One with its own time stays.
 */
function patchedCancellation(
  row: SubscriptionRow,
  body: SubscriptionPatch,
  after: Parameters<typeof endOfTerm>[0],
): Pick<SubscriptionFields, 'cancelAt' | 'cancelsAtPeriodEnd'> {
  const { cancelAt, cancelsAtPeriodEnd } = row;
  const given = givenTime(body.cancelAt);
  if (given !== undefined && given?.getTime() !== cancelAt?.getTime()) {
    return { cancelAt: given, cancelsAtPeriodEnd: false };
  }
  const end = endOfTerm(after);
  const isMoved = cancelsAtPeriodEnd && end.getTime() !== endOfTerm(row).getTime();
  return { cancelAt: isMoved ? end : cancelAt, cancelsAtPeriodEnd };
}
