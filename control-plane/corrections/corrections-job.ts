import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import { emitEverywhere } from '../../domain/emit-events.ts';
import {
  endsLook,
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { type CorrectionRow, nextOpenCorrection, takeUnannounced } from '../store/usage-corrections.ts';
import type { Freshness } from '../usage/freshness.ts';
import { shownCorrection } from './shown-correction.ts';
import { voidNext } from './void-selection.ts';
import { type CorrectionDeps, closeEventCorrection, writeEventCorrection } from './write-correction.ts';

export interface CorrectionsJobDeps extends CorrectionDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  log: Logger;
}

export interface CorrectionsJobOptions {
  owner?: string;
  everyMs?: number;
  /** How long a request has for its own correction before the job takes it for left. */
  leftAfterMs?: number;
  /** Events in one step of a selection. */
  chunk?: number;
}

export const USAGE_CORRECTIONS = { job: 'usage-corrections', everyMs: 2_000 };

/** A request that is alive has ended long before. */
const LEFT_AFTER_MS = 15_000;
/** Two seconds of the lease, about. */
const CHUNK = 2_000;
const ANNOUNCED_MAX = 200;

/**
 * Finishes corrections of single events that a crash left at any step, does those of many events step by
 * step, and emits the webhook event of each one that counts.
 */
export function startCorrections(deps: CorrectionsJobDeps, options: CorrectionsJobOptions = {}): LeasedJob {
  const {
    leftAfterMs = LEFT_AFTER_MS,
    chunk = CHUNK,
    everyMs = USAGE_CORRECTIONS.everyMs,
    ...owned
  } = options;
  const { pool, clock, log } = deps;

  async function work(row: CorrectionRow, turn: JobEpoch): Promise<void> {
    if (row.kind === 'selection') return voidNext({ ...deps, ...turn, chunk }, row);
    const written = await writeEventCorrection(deps, row);
    const at = new Date(clock.nowMs());
    await inJobTransaction(turn, (db) => closeEventCorrection(db, row, written, at));
  }

  /** False: it is tried again in the next look. */
  async function isDone(row: CorrectionRow, turn: JobEpoch): Promise<boolean> {
    try {
      await work(row, turn);
      return true;
    } catch (err) {
      if (endsLook(err)) throw asTransient(err);
      log.warn({ err, correction: row.id }, 'a correction of usage could not go on');
      return false;
    }
  }

  async function look({ job, hold, signal }: JobTurn): Promise<undefined> {
    const failed: number[] = [];
    while (!signal.aborted) {
      const epoch = await hold();
      if (epoch === undefined) return;
      await announce({ pool, job, epoch }, clock.nowMs());
      const begunBefore = new Date(clock.nowMs() - leftAfterMs);
      const row = await nextOpenCorrection(pool, { begunBefore, except: failed });
      if (!row) return;
      if (!(await isDone(row, { pool, job, epoch }))) failed.push(row.number);
    }
  }

  return startLeasedJob(deps, { ...owned, job: USAGE_CORRECTIONS.job, everyMs, look });
}

async function announce(turn: JobEpoch, nowMs: number): Promise<void> {
  const some = () =>
    inJobTransaction(turn, async (db: PoolClient) => {
      const rows = await takeUnannounced(db, new Date(nowMs), ANNOUNCED_MAX);
      await emitEverywhere(db, nowMs, rows.map(announcementOf));
      return rows.length;
    });
  while ((await some()) === ANNOUNCED_MAX);
}

function announcementOf(row: CorrectionRow) {
  const { id, kind, voided, eventId, newEventId, reason } = shownCorrection(row);
  const named =
    row.kind === 'selection'
      ? { customerId: row.request.customerId, meterId: row.request.meterKey }
      : { customerId: row.request.voided.customerId, meterId: row.request.voided.meterId };
  const data = defined({ correctionId: id, kind, voided, ...named, eventId, newEventId, reason });
  return { environment: row.environment, type: 'usage.corrected' as const, objectId: id, data };
}

/** Without members that are undefined. */
function defined<T extends object>(members: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  const all = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(all) as { [Name in keyof T]: Exclude<T[Name], undefined> };
}
