import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { showUsageChange } from '../../domain/store/usage-changes.ts';
import { createWakeup } from '../../infra/platform/wakeup.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { Transient } from '../../schemas/failures.ts';
import { type ClosingChange, lockClosing, readClosing } from '../store/loaded-changes.ts';
import { markChanged } from '../store/settlement-marks.ts';
import { readChangedUsage } from './changed-usage.ts';

export interface ShowChangesDeps {
  pool: Pool;
  warehouse: Pick<Warehouse, 'query'>;
  clock: Pick<Clock, 'nowMs'>;
  log: Pick<Logger, 'warn' | 'info'>;
}

/** Makes changes of usage visible once all their records are loaded. */
export interface ChangeViewer {
  /** A change may be closing. */
  wake(): void;
  /** Rejects when the process has to end. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends after the change that is being made visible. */
  close(): Promise<void>;
}

/** A notification may be lost. */
const POLL_MS = 1_000;
/** While some change waits for the load: strong reads wait for it. */
const LOOK_MS = 20;
const AFTER_FAILURE_MS = 500;
const CHANGES_MAX = 100;

/**
 * Any number of processes may do this: that a change is loaded never ceases to be so, and one row is updated
 * once. So it needs no lease.
 */
export function startShowingChanges(deps: ShowChangesDeps): ChangeViewer {
  const wakeup = createWakeup();
  let isClosing = false;

  async function keepShowing(): Promise<void> {
    while (!isClosing) await wakeup.wait(await lookOnce());
  }

  /** For how long nothing is to be done. */
  async function lookOnce(): Promise<number> {
    try {
      return (await showLoadedChanges(deps)) ? LOOK_MS : POLL_MS;
    } catch (error) {
      const err = asTransient(error);
      if (!(err instanceof Transient)) throw error;
      deps.log.warn({ err }, 'changes of usage cannot be made visible at present');
      return AFTER_FAILURE_MS;
    }
  }

  const running = keepShowing();
  return {
    wake: wakeup.wake,
    failed: running.then(() => new Promise<never>(() => undefined)),
    async close() {
      isClosing = true;
      wakeup.wake();
      await running.catch(() => undefined);
    },
  };
}

/** Whether some change is closing and not visible yet. Throws Transient. */
export async function showLoadedChanges(deps: ShowChangesDeps): Promise<boolean> {
  const closing = await readClosing(deps.pool, CHANGES_MAX);
  // mutant: shown-before-all-is-loaded
  const loaded = closing.filter(({ isLoaded }) => isLoaded);
  let shown = 0;
  for (const change of loaded) if (await show(deps, change)) shown += 1;
  if (shown < loaded.length) return (await readClosing(deps.pool, 1)).length > 0;
  return loaded.length < closing.length || closing.length === CHANGES_MAX;
}

/**
 * In one transaction with its marks: a settlement that reads these counts the change. False when another
 * process has made it visible, or records of it came behind its end meanwhile: then it is read once more.
 */
async function show(
  { pool, warehouse, clock, log }: ShowChangesDeps,
  change: ClosingChange,
): Promise<boolean> {
  const { environment, number } = change;
  const changed = await readChangedUsage(warehouse, change);
  const isShown = await inTransaction(pool, async (client) => {
    // mutant: late-records-marked-by-none
    if (!(await lockClosing(client, change))) return false;
    await showUsageChange(client, number, new Date(clock.nowMs()));
    // mutant: change-never-settled
    await markChanged(client, environment, changed);
    return true;
  });
  if (isShown) log.info({ environment, change: number }, 'a change of usage is visible');
  return isShown;
}
