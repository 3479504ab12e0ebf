import type { Pool, PoolClient } from 'pg';
import { closeUsageChange, type LogEnd, revertUsageChange } from '../../domain/store/usage-changes.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { EventLogReader } from '../../infra/ports/event-log.ts';
import type { UsageWriter, WrittenEvent } from '../../infra/ports/usage-writer.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import {
  type EventCorrectionRow,
  keepAddedEvent,
  lockCorrection,
  markVoidsWritten,
  type RecordedUsage,
} from '../store/usage-corrections.ts';

export interface CorrectionDeps {
  pool: Pool;
  clock: Pick<Clock, 'nowMs'>;
  usageWriter: UsageWriter;
  logReader: EventLogReader;
}

/** All records of a correction are durable, before these ends of the log. */
export interface WrittenCorrection {
  endsAt: LogEnd[];
  /** The JSON of the event in the place of the voided one. */
  added?: string;
}

/**
 * Writes the records of a correction of one event; once more they are the same ones. The new event is first:
 * where it cannot be, nothing was taken away. Throws Transient, and Rejected where it cannot be: the
 * correction is then reverted.
 */
export async function writeEventCorrection(
  deps: CorrectionDeps,
  row: EventCorrectionRow,
): Promise<WrittenCorrection> {
  const { number, request } = row;
  try {
    // mutant: closed-before-its-records
    const added =
      request.added &&
      (await writeOne(deps, row, { voids: false, key: `amend ${number}`, usage: request.added }));
    const { eventId: key, voided: usage } = request;
    await writeOne(deps, row, { voids: true, key, usage });
    const endsAt = await endOfLog(deps.logReader);
    return { endsAt, ...(added ? { added: added.event } : {}) };
  } catch (error) {
    if (error instanceof Rejected) await inTransaction(deps.pool, (db) => revertOpen(db, number, deps.clock));
    throw error;
  }
}

/** Of others that write the same records one may have closed it. */
async function revertOpen(db: PoolClient, number: number, clock: CorrectionDeps['clock']): Promise<void> {
  if ((await lockCorrection(db, number)) !== 'open') return;
  await revertUsageChange(db, number, new Date(clock.nowMs()));
}

async function writeOne(
  { usageWriter }: CorrectionDeps,
  { environment, number, request }: EventCorrectionRow,
  { voids, key, usage }: { voids: boolean; key: string; usage: RecordedUsage },
): Promise<{ event: string }> {
  const change = voids ? voidsOf(number, request.ofChange) : { number, voids };
  const [written] = await usageWriter.write({
    environment,
    change,
    events: [{ idempotencyKey: key, ...usage }],
  });
  return accepted(written);
}

/** Voids of events that are of this change themselves; 0: of ordinary usage. */
export function voidsOf(number: number, ofChange: number): ChangeRows {
  return { number, voids: true, ...(ofChange > 0 ? { of: ofChange } : {}) };
}

function accepted(written: WrittenEvent | undefined): { event: string } {
  if (!written) throw new Defect('a written event has a result');
  if (written.status !== 'error') return written;
  const { code, message, ...more } = written.rejection;
  throw new Rejected(code, message, more);
}

/** Where the log ends now. Call it once all records are durable. */
export async function endOfLog(logReader: EventLogReader): Promise<LogEnd[]> {
  const logId = Buffer.from(logReader.logId).toString('hex');
  const ends = await logReader.durableEnds();
  return ends.map((end, partition) => ({ logId, partition, end }));
}

/** Within its transaction: from here on it becomes visible as soon as all of it is loaded. */
export async function closeEventCorrection(
  db: PoolClient,
  { number, request }: EventCorrectionRow,
  { endsAt, added }: WrittenCorrection,
  at: Date,
): Promise<void> {
  if (!(await closeUsageChange(db, number, { endsAt, at }))) return;
  await markVoidsWritten(db, number, [request.eventId]);
  if (added !== undefined) await keepAddedEvent(db, number, added);
}
