import { hasEnded } from '../../domain/rules/subscription-status.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { movedTo, rolledTo } from '../subscriptions/subscription-fields.ts';
import { PROCESSOR_GRACE_MS } from './processor-grace.ts';

/** A change of a subscription that has become due. */
export interface DueChange {
  /** The most important action of the change, as the audit log names it. */
  action: 'subscriptions.cancel' | 'subscriptions.endTrial' | 'subscriptions.rollPeriod';
  fields: Partial<SubscriptionFields>;
  /** When it took effect, however late it is noticed. */
  since: Date;
}

/** A period may be a millisecond long, and each roll notifies its tenant and writes an audit entry. */
const ROLL_PAUSE_MS = 10_000;

/**
 * All changes of a subscription that are due by now, as one change, however late they are noticed; undefined
 * when none is. Of changes due at the same time the cancellation comes first, then the end of the trial,
 * then the end of the period: a subscription canceled at the end of a trial or period is never active, or in
 * another period, after it. Each change takes effect at its own time. For a subscription with a processor,
 * the processor decides when a period ends; its end of a trial and its cancellation are applied here only
 * after the processor was silent for the grace period. A subscription rolls at most once in 10 s, over as
 * many periods as have passed.
 */
export function dueChange(row: SubscriptionRow, nowMs: number): DueChange | undefined {
  if (hasEnded(row.status)) return undefined;
  // The processor may not know a cancellation that was requested through the API.
  const isCancelProcessors = row.cancelAt?.getTime() === row.processorCancelAt?.getTime();
  if (row.cancelAt && hasCome(row, row.cancelAt, { isProcessors: isCancelProcessors, nowMs }))
    return cancellation(row, row.cancelAt);
  const period = rolled(row, nowMs);
  const roll = period && { ...period, noRollBefore: new Date(nowMs + ROLL_PAUSE_MS) };
  const isProcessors = row.processorSubscriptionId !== null;
  if (row.status === 'trialing' && row.trialEnd && hasCome(row, row.trialEnd, { isProcessors, nowMs })) {
    const fields = { ...roll, ...movedTo(row, 'active', row.trialEnd) };
    return { action: 'subscriptions.endTrial', fields, since: row.trialEnd };
  }
  if (!roll || (row.noRollBefore && row.noRollBefore.getTime() > nowMs)) return undefined;
  return { action: 'subscriptions.rollPeriod', fields: roll, since: row.currentPeriodEnd };
}

/** The processor decides first about changes that it reports itself. */
function hasCome(row: SubscriptionRow, time: Date, { isProcessors, nowMs }: Look): boolean {
  if (!isProcessors) return time.getTime() <= nowMs;
  return !row.processorSimulated && time.getTime() + PROCESSOR_GRACE_MS <= nowMs;
}

interface Look {
  isProcessors: boolean;
  nowMs: number;
}

/**
 * Not before the time of its present status. Its last period is the one that ran when it was canceled, or
 * that ended then.
 */
function cancellation(row: SubscriptionRow, cancelAt: Date): DueChange {
  const at = cancelAt < row.statusSince ? row.statusSince : cancelAt;
  const fields = { ...rolled(row, at.getTime() - 1), ...movedTo(row, 'canceled', at) };
  return { action: 'subscriptions.cancel', fields, since: at };
}

/** Into the period that contains this time. */
function rolled(row: SubscriptionRow, atMs: number): Partial<SubscriptionFields> | undefined {
  return row.processorSubscriptionId === null ? rolledTo(row, atMs) : undefined;
}
