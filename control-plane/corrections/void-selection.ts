import type { PoolClient } from 'pg';
import { inJobTransaction, type JobEpoch } from '../../domain/leased-job.ts';
import { closeUsageChange } from '../../domain/store/usage-changes.ts';
import type { UsageView } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Defect } from '../../schemas/failures.ts';
import type { FoundEvent } from '../store/read-usage-events.ts';
import { type EventSelection, readLedgerEvents, selectUsageEvents } from '../store/select-usage-events.ts';
import {
  insertVoids,
  type LedgerVoid,
  lockCorrections,
  markVoidsWritten,
  type SelectionRow,
} from '../store/usage-corrections.ts';
import { findUnwrittenVoids, forgetVoids, moveSelection } from '../store/usage-selections.ts';
import { readConsistently } from '../usage/consistency.ts';
import type { Freshness } from '../usage/freshness.ts';
import { beginReadTime } from '../usage/read-time.ts';
import { openSpan } from '../usage/window.ts';
import { recordedUsage } from './recorded-usage.ts';
import { type CorrectionDeps, endOfLog, voidsOf } from './write-correction.ts';

export interface SelectionStep extends CorrectionDeps, JobEpoch {
  warehouse: Warehouse;
  freshness: Freshness;
  /** Events in one step. */
  chunk: number;
}

/**
 * The next step of a selection: its next events are put into the ledger together with its position, and then
 * written to the log. A crash leaves rows of the ledger that are not written: these come first. After the
 * last step it is closed. Throws Transient and Rejected `unavailable`: the step is done again.
 */
export async function voidNext(step: SelectionStep, row: SelectionRow): Promise<void> {
  const left = await findUnwrittenVoids(step.pool, row.number, step.chunk);
  // mutant: left-voids-forgotten
  if (left.length > 0) return writeLeft(step, row, left);
  const { chunk } = step;
  const selection = selectionOf(row);
  const events = await strongly(step, row, (view) =>
    selectUsageEvents({ ...step, view }, selection, { after: row.position, limit: chunk }),
  );
  const taken = await inJobTransaction(step, (db) => take(db, row, events));
  await writeVoids(step, row, taken);
  if (events.length < chunk) await close(step, row);
}

/** Rows of the ledger whose records are not known to be on the log. */
async function writeLeft(step: SelectionStep, row: SelectionRow, left: LedgerVoid[]): Promise<void> {
  const { environment, number } = row;
  const found = await strongly(step, row, (view) => readLedgerEvents({ ...step, view }, environment, left));
  const changes = new Map(left.map(({ id, change }) => [id, change]));
  const events = found.filter(({ id, change }) => changes.get(id) === change);
  await writeVoids(step, row, events);
  for (const { id } of events) changes.delete(id);
  // The change that they are of was reverted.
  if (changes.size > 0) await forgetVoids(step.pool, number, [...changes.keys()]);
}

/** Their customers, meters and span as they were when it was asked for. */
function selectionOf({ environment, request, createdAt }: SelectionRow): EventSelection {
  const { select, customerId, meterKey } = request;
  const filter = Object.entries(select.properties ?? {});
  const recordedToMs = createdAt.getTime();
  return { environment, customerId, meterKey, span: openSpan(select), filter, recordedToMs };
}

function strongly<T>(
  { freshness }: SelectionStep,
  { environment }: SelectionRow,
  read: (view: UsageView) => Promise<T>,
) {
  const wish = { consistency: 'strong' as const, environment, time: beginReadTime('strong') };
  return readConsistently(freshness, wish, (_, view) => read(view));
}

/** Those that nothing else has taken away. */
async function take(db: PoolClient, row: SelectionRow, events: readonly FoundEvent[]): Promise<FoundEvent[]> {
  const last = events.at(-1);
  if (!last) return [];
  await lockCorrections(db, row.environment);
  const taken = await insertVoids(
    db,
    row,
    events.filter(({ isVoided }) => !isVoided),
  );
  const { customerId, meterKey, occurredAtMs, id } = last;
  await moveSelection(db, row.number, { customerId, meterKey, occurredAtMs, id });
  return events.filter((event) => taken.has(event.id) && !event.isVoided);
}

async function writeVoids(
  { usageWriter, pool }: SelectionStep,
  { environment, number }: SelectionRow,
  events: readonly FoundEvent[],
): Promise<void> {
  for (const ofChange of new Set(events.map(({ change }) => change))) {
    const own = events.filter(({ change }) => change === ofChange);
    const results = await usageWriter.write({
      environment,
      change: voidsOf(number, ofChange),
      events: own.map((event) => ({ idempotencyKey: event.id, ...recordedUsage(event) })),
    });
    const failed = results.find(({ status }) => status === 'error');
    if (failed?.status === 'error') throw new Defect(`a void was rejected with ${failed.rejection.code}`);
  }
  if (events.length > 0)
    await markVoidsWritten(
      pool,
      number,
      events.map(({ id }) => id),
    );
}

async function close(step: SelectionStep, { number }: SelectionRow): Promise<void> {
  const endsAt = await endOfLog(step.logReader);
  const at = new Date(step.clock.nowMs());
  await inJobTransaction(step, (db) => closeUsageChange(db, number, { endsAt, at }));
}
