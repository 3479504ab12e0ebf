import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { Fatal, Transient } from '../../schemas/failures.ts';
import type { PausedPartition } from '../load/load-state.ts';
import {
  type AuditRun,
  beginAuditRun,
  failAuditRun,
  finishAuditRun,
  forgetAuditRuns,
  isAuditOpen,
  renewAuditRuns,
} from '../store/audit-runs.ts';
import { holdLog, releaseLog } from '../store/log-trims.ts';
import { contradictoryReservations } from '../store/reserved-sums.ts';
import { untilNoInsertRuns } from '../store/running-inserts.ts';
import { markRepaired } from '../store/settlement-marks.ts';
import { type AuditDeps, type Comparison, comparePlaces, type Hold } from './compare-places.ts';
import { compareWallets } from './compare-wallets.ts';
import { repairHours } from './repair-hours.ts';

/** Runs the audits that are requested in `audit_runs`, one after the other. */
export interface Auditor {
  /** A run was requested. */
  requested(): void;
  /** Ends after the audit that is running. */
  close(): Promise<void>;
}

/** A notification may be lost. */
const POLL_MS = 2_000;
/** How often an audit starts again while the partition is not held or a store is unavailable. */
const ATTEMPTS_MAX = 30;
const RETRY_MS = 1_000;
const FORGET = { everyMs: 3_600_000, keepDays: 30, rowsMax: 1_000 };
/** What the row keeps; the rest is found by the next audit. */
const DIFFERENCES_MAX = 1_000;

/** What an audit needs of the load. */
export interface AuditLock {
  /** The whole log, between two loads. */
  hold: Hold;
  /** Runs `work` unless another process audits or repairs; undefined when one does. */
  alone<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export function startAuditor(
  deps: AuditDeps & { log: Logger; clock: Clock },
  { hold: betweenLoads, alone }: AuditLock,
): Auditor {
  const { pool, log } = deps;
  const wakeup = createWakeup();
  let closing = false;
  const forgetOld = createForgetting(pool);

  async function keepRunning(): Promise<void> {
    while (!closing) {
      try {
        await forgetOld();
        const isDone = (await isAuditOpen(pool)) && (await alone(runNext));
        if (!isDone) await wakeup.wait(POLL_MS);
      } catch (error) {
        // Postgres is unavailable. A running audit continues when Postgres is back.
        log.warn({ err: asTransient(error) }, 'audits cannot run at present');
        await wakeup.wait(POLL_MS);
      }
    }
  }

  /** No other process audits now: a run marked as running was left behind. False when there is no run. */
  async function runNext(): Promise<boolean> {
    await renewAuditRuns(pool);
    const run = await beginAuditRun(pool);
    if (run) await runAudit(run);
    return run !== undefined;
  }

  async function runAudit(run: AuditRun): Promise<void> {
    const found = await auditWithin({ ...deps, betweenLoads, isClosing: () => closing }, run);
    // Left running: the process that follows does it again.
    if (!found && closing) return;
    if (!found) return failAuditRun(pool, run.id);
    const { hours, differences, lost, wrong, wallets, reservations } = found;
    const ofCustomers = { wallets: wallets.length, reservations: reservations.length };
    const counts = { differences: wrong.all, lost: lost.length, ...ofCustomers };
    log.info({ ...run, hours, ...counts }, 'an audit is done');
    if (lost.length > 0) log.error({ lost: lost.length }, 'hours of which less is stored than was counted');
    // Of either kind: the ones do not keep the others from being seen.
    const kinds: object[][] = [differences, lost, wallets, reservations];
    const shown = kinds.flatMap((some) => some.slice(0, DIFFERENCES_MAX));
    await finishAuditRun(pool, run.id, { hours, differences: shown });
  }

  const kept = keepRunning();
  return {
    requested: () => wakeup.wake(),
    async close() {
      closing = true;
      wakeup.wake();
      await kept;
    },
  };
}

/** What was found of what is stored, of wallets and of reservations. */
interface Audited extends Comparison {
  wallets: object[];
  reservations: object[];
}

interface Attempts extends AuditDeps {
  clock: Clock;
  log: Logger;
  betweenLoads: Hold;
  isClosing(): boolean;
}

/** Undefined when it cannot be done. */
async function auditWithin(deps: Attempts, run: AuditRun): Promise<Audited | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX && !deps.isClosing(); attempt++) {
    try {
      const compared = await audit(deps, deps.betweenLoads, run);
      const whilePaused = <T>(work: () => Promise<T>) => deps.betweenLoads(() => work());
      const wallets = await compareWallets(deps, whilePaused);
      const reservations = await contradictoryReservations(deps.pool, DIFFERENCES_MAX);
      return { ...compared, wallets, reservations };
    } catch (error) {
      deps.log.warn({ err: error, attempt }, 'an audit did not come through');
      if (!mayComeThrough(error)) return undefined;
      await delay(RETRY_MS);
    }
  }
  return undefined;
}

/** Ended runs are kept for a while; looked for now and then. */
function createForgetting(pool: Pool): () => Promise<void> {
  const { everyMs, keepDays, rowsMax } = FORGET;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - lastAtMs < everyMs) return;
    while ((await forgetAuditRuns(pool, keepDays, rowsMax)) === rowsMax);
    lastAtMs = performance.now();
  };
}

/**
 * With repair, all partitions are paused throughout, and the result is what still differs afterwards. Repairs
 * and compares repeatedly: when very much differs, one comparison lists only the first part.
 */
async function audit(deps: AuditDeps, betweenLoads: Hold, run: AuditRun): Promise<Comparison> {
  if (!run.repair) return comparePlaces(deps, betweenLoads);
  return betweenLoads(async (paused) => {
    const hold: Hold = (work) => work(paused);
    // Otherwise an insert that an earlier attempt sent and gave up would add to what this attempt writes.
    await untilNoInsertRuns(deps.warehouse);
    // mutant: log-held-once-it-was-compared
    let left = await whileLogIsHeld(deps, paused, run.id, () => comparePlaces(deps, hold));
    // mutant: repaired-once-of-many
    for (let before = Number.POSITIVE_INFINITY; left.wrong.all > 0 && left.wrong.all < before; ) {
      before = left.wrong.all;
      await repairHours(deps, paused, left.differences);
      await markRepaired(deps.pool, left.differences);
      left = await comparePlaces(deps, hold);
    }
    // Only the log has the events that are still missing.
    if (left.wrong.events > 0) return left;
    for (const { lease } of paused) await releaseLog(deps.pool, lease);
    return left;
  });
}

/**
 * Holds the log before reading it: what the comparison found there has to exist when the repair writes it
 * back. The log stays held afterwards. When the comparison fails and the log was not held before, nothing was
 * deleted, and the log is released.
 */
async function whileLogIsHeld<T>(
  { pool, isDistributed }: AuditDeps,
  paused: PausedPartition[],
  runId: string,
  work: () => Promise<T>,
): Promise<T> {
  const fresh: PausedPartition[] = [];
  for (const partition of isDistributed ? [] : paused) {
    // mutant: log-not-held-for-a-repair
    if (await holdLog(pool, partition.lease, runId)) fresh.push(partition);
  }
  try {
    return await work();
  } catch (error) {
    for (const { lease } of fresh) await releaseLog(pool, lease);
    throw error;
  }
}

/** The log may be trimmed during an audit: then the audit starts again with what is left. */
function mayComeThrough(error: unknown): boolean {
  return asTransient(error) instanceof Transient || (error instanceof Fatal && error.code === 'log_trimmed');
}
