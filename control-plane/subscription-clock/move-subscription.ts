import type { Pool } from 'pg';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Transient } from '../../schemas/failures.ts';
import type { DueSubscription } from '../store/due-subscriptions.ts';
import { shareEpoch } from '../store/job-leases.ts';
import { lockSubscription } from '../store/subscriptions.ts';
import { changeSubscription } from '../subscriptions/change-subscription.ts';
import { dueChange } from './due-change.ts';

/** The right to move subscriptions, as of one epoch of the job's lease. */
export interface ClockTurn {
  pool: Pool;
  job: string;
  epoch: number;
  nowMs: number;
}

/**
 * Does what is due of one subscription, in one transaction with what it tells. What has changed since it was
 * found due is read again under its lock: false when nothing is due any more. Throws Transient `lease_lost`
 * once another owner has begun.
 */
export function moveSubscription(
  { pool, job, epoch, nowMs }: ClockTurn,
  { environment, id }: Pick<DueSubscription, 'environment' | 'id'>,
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    if (!(await shareEpoch(db, job, epoch))) {
      throw new Transient('lease_lost', 'Another process moves subscriptions now.');
    }
    const row = await lockSubscription(db, environment, id);
    const due = row && dueChange(row, nowMs);
    if (!due) return false;
    const context = { db, environment, actor: 'clock', operationId: due.action, nowMs };
    await changeSubscription(context, row, due.fields);
    return true;
  });
}
