import { inJobTransaction, type JobEpoch } from '../../domain/leased-job.ts';
import type { DueSubscription } from '../store/due-subscriptions.ts';
import { lockSubscription } from '../store/subscriptions.ts';
import { changeSubscription } from '../subscriptions/change-subscription.ts';
import { dueChange } from './due-change.ts';

/** The right to move subscriptions, as of one epoch of the job's lease. */
export interface ClockTurn extends JobEpoch {
  nowMs: number;
}

/**
 * Applies what is due of one subscription, with its events, in one transaction. It reads the subscription
 * again under its lock, because it may have changed since it was found due: returns false when nothing is due
 * any more. Throws Transient `lease_lost` once another owner has begun.
 */
export function moveSubscription(
  { nowMs, ...turn }: ClockTurn,
  { environment, id }: Pick<DueSubscription, 'environment' | 'id'>,
): Promise<boolean> {
  return inJobTransaction(turn, async (db) => {
    let row = await lockSubscription(db, environment, id);
    let isMoved = false;
    for (let due = row && dueChange(row, nowMs); row && due; due = dueChange(row, nowMs)) {
      const { action: operationId, since } = due;
      const context = { db, environment, actor: 'clock', operationId, nowMs, since };
      row = await changeSubscription(context, row, due.fields);
      isMoved = true;
    }
    return isMoved;
  });
}
