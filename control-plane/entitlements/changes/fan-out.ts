import type { Database } from '../../http/request-context.ts';
import { advanceFanout, beginRound, endFanout, type FanoutJob } from '../../store/fanout-jobs.ts';
import { FANOUT_MEMBERS, type FanoutMember } from '../../store/fanout-members.ts';
import { addNotified, lockNotified, type NotifiedRow } from '../../store/notified-entitlements.ts';
import { notifyCustomers } from './notify-customers.ts';

/** The result of one chunk. */
export interface Notified {
  customers: number;
  events: number;
}

/**
 * Processes the next customers of a change that touches many, and records its position in the same
 * transaction: a process killed at any point has notified all of them or none.
 */
export async function fanOut(
  db: Database,
  job: FanoutJob,
  { nowMs, chunk }: { nowMs: number; chunk: number },
): Promise<Notified> {
  const { environment } = job;
  const members = await FANOUT_MEMBERS[job.scope](db, job, chunk);
  const customerIds = [...new Set(members.map(({ customerId }) => customerId))];
  const rows = await lockAll(db, environment, { customerIds, at: new Date(nowMs) });
  // A customer notified since then was notified of this change as well.
  // mutant: fan-out-from-its-turn
  const sinceMs = ({ resolvedAt }: NotifiedRow) => Math.max(job.changedAt.getTime(), resolvedAt.getTime());
  // mutant: position-stored-before-notifications
  const events = await notifyCustomers(db, { environment, nowMs, sinceMs }, rows);
  await noteProgress(db, job, { last: members.length < chunk ? undefined : members.at(-1), nowMs });
  return { customers: customerIds.length, events };
}

/** Customers that were never notified have no row. */
async function lockAll(
  db: Database,
  environment: string,
  { customerIds, at }: { customerIds: string[]; at: Date },
): Promise<NotifiedRow[]> {
  const rows = await lockNotified(db, environment, customerIds);
  if (rows.length === customerIds.length) return rows;
  const locked = new Set(rows.map(({ customerId }) => customerId));
  const others = customerIds.filter((id) => !locked.has(id));
  await addNotified(db, environment, { customerIds: others, at });
  return [...rows, ...(await lockNotified(db, environment, others))];
}

/** Without `last` the pass has reached its end. */
async function noteProgress(
  db: Database,
  job: FanoutJob,
  { last, nowMs }: { last: FanoutMember | undefined; nowMs: number },
): Promise<void> {
  if (last) return advanceFanout(db, job, { position: last.place, at: new Date(nowMs) });
  const isAtEnd = job.isRound || job.roundTo === '';
  if (!isAtEnd || !(await endFanout(db, job))) await beginRound(db, job);
}
