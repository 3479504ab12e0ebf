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
 * The first change of a subscription that is due by now, however late it is noticed; undefined when none is.
 * After it the next one is asked for: ends of a trial and of periods come before a later cancellation. Of
 * changes due at the same time the cancellation comes first, then the end of the trial, then the end of the
 * period: a subscription canceled at the end of a trial or period is never active, or in another period,
 * after it. Each change takes effect at its own time. For a subscription with a processor, the processor
 * decides when a period ends; its end of a trial and its cancellation are applied here only after the
 * processor was silent for the grace period. A subscription rolls at most once in 10 s, over as many periods
 * as have passed.
 */
export function dueChange(row: SubscriptionRow, nowMs: number): DueChange | undefined {
  if (hasEnded(row.status)) return undefined;
  const trialEnd = trialEndOf(row, nowMs);
  const cancelAt = cancelAtOf(row, nowMs);
  const period = rolled(row, cancelAt ? cancelAt.getTime() - 1 : nowMs);
  if (cancelAt && !period && !(trialEnd && trialEnd < cancelAt)) return cancellation(row, cancelAt);
  const roll = period && (cancelAt ? period : { ...period, noRollBefore: new Date(nowMs + ROLL_PAUSE_MS) });
  if (trialEnd && !(cancelAt && cancelAt <= trialEnd)) {
    // A period that goes on after the trial ends at its own time.
    const fields = { ...(row.currentPeriodEnd <= trialEnd ? roll : {}), ...movedTo(row, 'active', trialEnd) };
    return { action: 'subscriptions.endTrial', fields, since: trialEnd };
  }
  const isPaused = !cancelAt && row.noRollBefore && row.noRollBefore.getTime() > nowMs;
  if (!roll || isPaused) return undefined;
  return { action: 'subscriptions.rollPeriod', fields: roll, since: row.currentPeriodEnd };
}

/** Where it has come. */
function trialEndOf(row: SubscriptionRow, nowMs: number): Date | undefined {
  const isProcessors = row.processorSubscriptionId !== null;
  const isDue =
    row.status === 'trialing' && row.trialEnd && hasCome(row, row.trialEnd, { isProcessors, nowMs });
  return isDue ? (row.trialEnd ?? undefined) : undefined;
}

/**
 * Where it has come: not before the time of the present status. The processor may not know a cancellation
 * that was requested through the API.
 */
function cancelAtOf(row: SubscriptionRow, nowMs: number): Date | undefined {
  const isProcessors = row.cancelAt?.getTime() === row.processorCancelAt?.getTime();
  if (!row.cancelAt || !hasCome(row, row.cancelAt, { isProcessors, nowMs })) return undefined;
  return new Date(Math.max(row.cancelAt.getTime(), row.statusSince.getTime()));
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

/** In the period that ran then, or that ended then. */
function cancellation(row: SubscriptionRow, at: Date): DueChange {
  return { action: 'subscriptions.cancel', fields: movedTo(row, 'canceled', at), since: at };
}

/** Into the period that contains this time. */
function rolled(row: SubscriptionRow, atMs: number): Partial<SubscriptionFields> | undefined {
  return row.processorSubscriptionId === null ? rolledTo(row, atMs) : undefined;
}
