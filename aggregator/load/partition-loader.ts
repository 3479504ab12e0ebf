import { createWakeup } from '../../infra/platform/wakeup.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { Fatal, Poison, Transient } from '../../schemas/failures.ts';
import type { AggregatorOptions } from '../aggregator-options.ts';
import { clearAlarms, raiseAlarm } from '../store/alarms.ts';
import type { Place } from '../store/leases.ts';
import { takeLease } from './lease.ts';
import { type LoadLoopDeps, runLoadLoop } from './load-loop.ts';
import { createLoadState, type LoadState, type PausedPartition } from './load-state.ts';

/** Keeps one partition of the log loading until it is closed. Its states: {@link LoadState}. */
export interface PartitionLoader {
  readonly place: Place;
  /** A strong read waits for what is on the log. */
  readerWaits(): void;
  /**
   * Runs `work` while the load is paused. Throws Transient `partition_not_standing` while this process does
   * not hold the partition or its load fails.
   */
  betweenLoads<T>(work: (paused: PausedPartition) => Promise<T>): Promise<T>;
  /** Rejects when the process should end. */
  readonly failed: Promise<never>;
  /** Ends after the block that is being loaded. */
  close(): Promise<void>;
}

const OTHER_OWNER_WAIT_MS = 1_000;
/** A waiting read cuts a backoff short, so after some seconds of waking the backoff is at its maximum. */
const BACKOFF_MS = { first: 100, most: 2_000 };

export function createPartitionLoader(
  given: Omit<LoadLoopDeps, 'wakeup'>,
  partition: number,
  options: AggregatorOptions,
): PartitionLoader {
  const deps: LoadLoopDeps = { ...given, wakeup: createWakeup() };
  const place: Place = { logId: Buffer.from(deps.reader.logId).toString('hex'), partition };
  const state = createLoadState();
  const kept = keepLoading({ deps, options, place, state, backoffMs: BACKOFF_MS.first });
  return {
    place,
    // Does not resolve: an orderly end is not a failure.
    failed: kept.then(() => new Promise<never>(() => undefined)),
    readerWaits() {
      state.readerWaits = true;
      deps.wakeup.wake();
    },
    betweenLoads: state.hold,
    async close() {
      state.close();
      deps.wakeup.wake();
      await kept.catch(() => undefined);
    },
  };
}

interface Loading {
  deps: LoadLoopDeps;
  options: AggregatorOptions;
  place: Place;
  state: LoadState;
  backoffMs: number;
}

async function keepLoading(loading: Loading): Promise<void> {
  const { state, deps } = loading;
  while (!state.closing) {
    try {
      if (!(await loadOnce(loading))) await deps.wakeup.wait(OTHER_OWNER_WAIT_MS);
    } catch (error) {
      await notify(loading, expected(error));
      await deps.wakeup.wait(loading.backoffMs);
      loading.backoffMs = Math.min(loading.backoffMs * 2, BACKOFF_MS.most);
    }
  }
}

/** False while another process holds the partition, or should. */
async function loadOnce(loading: Loading): Promise<boolean> {
  const { deps, options, place, state } = loading;
  if (!deps.assignment.isAssigned(place.partition)) return false;
  const lease = await takeLease(deps, place, options);
  if (!lease) return false;
  const startedAtMs = deps.clock.monotonicMs();
  try {
    await runLoadLoop(deps, options, { lease, state, onHealthy: () => isHealthy(loading, startedAtMs) });
    return true;
  } finally {
    state.giveUp();
    await lease.end();
  }
}

async function isHealthy(loading: Loading, startedAtMs: number): Promise<void> {
  const { pool, clock } = loading.deps;
  loading.backoffMs = BACKOFF_MS.first;
  await clearAlarms(pool, loading.place, clock.monotonicMs() - startedAtMs);
}

async function notify(loading: Loading, failure: Failure): Promise<void> {
  const { deps, place, options } = loading;
  deps.metrics.failed(failure.code);
  deps.log.warn({ err: failure, ...place }, 'the load failed and is retried');
  if (failure.code === 'lease_lost') return;
  const { code, message } = failure;
  await raiseAlarm(deps.pool, place, { code, message, owner: options.owner }).catch((err: unknown) => {
    deps.log.debug({ err }, 'an alarm cannot be written');
  });
}

type Failure = Transient | Poison | Fatal;

/**
 * Failures of every class are retried: a damaged frame stops its partition, with an alarm, and is never
 * skipped. An error of no class is a mistake in the code, and ends the process.
 */
function expected(error: unknown): Failure {
  const failure = asTransient(error);
  if (failure instanceof Transient || failure instanceof Poison || failure instanceof Fatal) return failure;
  throw error;
}
