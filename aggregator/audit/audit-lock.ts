import { poll } from '../../infra/platform/poll.ts';
import { Transient } from '../../schemas/failures.ts';
import { type LeaseDeps, type LeaseOptions, takeLease } from '../load/lease.ts';
import type { PausedPartition } from '../load/load-state.ts';
import type { PartitionLoader } from '../load/partition-loader.ts';
import { AUDIT_OF_LOG, WHOLE_LOG } from '../store/leases.ts';
import type { AuditLock } from './auditor.ts';
import type { Hold } from './compare-places.ts';

/** The load is this process's alone. */
export function lockOneLoad(loaders: PartitionLoader[]): AuditLock {
  return { hold: (work) => betweenAll(loaders, work), alone: (work) => work() };
}

/** What a dead process left is free after its lease; then it has to be loaded. */
const GIVEN = { timeoutMs: 60_000, everyMs: 200 };

/**
 * Other processes load some of the partitions. This process takes a lease of the whole log, on which they
 * give up their partitions for as long as the pause lasts. When the process dies, its leases expire as usual.
 */
export function lockDistributedLoad(
  deps: LeaseDeps,
  loaders: PartitionLoader[],
  options: LeaseOptions,
): AuditLock {
  const logId = loaders[0]?.place.logId ?? '';

  async function withLease<T>(partition: number, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await takeLease(deps, { logId, partition }, options);
    if (!lease) return undefined;
    try {
      return await work();
    } finally {
      await lease.end();
    }
  }

  const hold: Hold = async (work) => {
    const whole = async () => ({ of: await betweenAll(loaders, (paused) => stillHeld(paused, work)) });
    const held = await withLease(WHOLE_LOG, () => poll(() => whole().catch(notYet), GIVEN));
    if (!held) throw new Transient('log_not_standing', 'Other processes do not give up the log.');
    return held.of;
  };

  return { hold, alone: (work) => withLease(AUDIT_OF_LOG, work) };
}

/** The result of `work` is worthless when another process may have loaded meanwhile. */
async function stillHeld<T>(
  paused: PausedPartition[],
  work: (paused: PausedPartition[]) => Promise<T>,
): Promise<T> {
  const done = await work(paused);
  for (const { lease } of paused) lease.remainingMs(0);
  return done;
}

/** Nests the pauses, so that in the end all partitions are paused at once. */
async function betweenAll<T>(
  loaders: PartitionLoader[],
  work: (paused: PausedPartition[]) => Promise<T>,
  paused: PausedPartition[] = [],
): Promise<T> {
  const [loader, ...rest] = loaders;
  if (!loader) return await work(paused);
  return await loader.betweenLoads((partition) => betweenAll(rest, work, [...paused, partition]));
}

/** The other processes finish their block before they give up a partition, and then it is taken over here. */
function notYet(error: unknown): undefined {
  if (!(error instanceof Transient) || error.code !== 'partition_not_standing') throw error;
}
