import { poll } from '../../infra/platform/poll.ts';
import { Transient } from '../../schemas/failures.ts';
import { type LeaseDeps, type LeaseOptions, takeLease } from '../load/lease.ts';
import type { PartitionLoader } from '../load/partition-loader.ts';
import { AUDIT_OF_LOG, WHOLE_LOG } from '../store/leases.ts';
import type { AuditLock } from './auditor.ts';
import type { Hold, Standing } from './compare-places.ts';

/** The load is this process's alone. */
export function lockOneLoad(loaders: PartitionLoader[]): AuditLock {
  return { hold: (work) => betweenAll(loaders, work), alone: (work) => work() };
}

/** What a dead process left is free after its lease; then it has to be loaded. */
const GIVEN = { timeoutMs: 60_000, everyMs: 200 };

/**
 * The partitions are shared: the others are told to give them up, by a lease of the whole log, for as long as
 * they have to stand still. A process that dies meanwhile gives back what it held as any other does.
 */
export function lockDistributedLoad(
  deps: LeaseDeps,
  loaders: PartitionLoader[],
  options: LeaseOptions,
): AuditLock {
  const logId = loaders[0]?.place.logId ?? '';

  async function customerGrants<T>(partition: number, work: () => Promise<T>): Promise<T | undefined> {
    const lease = await takeLease(deps, { logId, partition }, options);
    if (!lease) return undefined;
    try {
      return await work();
    } finally {
      await lease.end();
    }
  }

  const hold: Hold = async (work) => {
    const whole = async () => ({ of: await betweenAll(loaders, (standings) => stillHeld(standings, work)) });
    const held = await customerGrants(WHOLE_LOG, () => poll(() => whole().catch(notYet), GIVEN));
    if (!held) throw new Transient('log_not_standing', 'Other processes do not give up the log.');
    return held.of;
  };

  return { hold, alone: (work) => customerGrants(AUDIT_OF_LOG, work) };
}

/** What was asked is worth nothing when another process may have loaded meanwhile. */
async function stillHeld<T>(standings: Standing[], work: (standings: Standing[]) => Promise<T>): Promise<T> {
  const done = await work(standings);
  for (const { lease } of standings) lease.remainingMs(0);
  return done;
}

/** One inside the other, so that in the end all of them stand still at once. */
async function betweenAll<T>(
  loaders: PartitionLoader[],
  work: (standings: Standing[]) => Promise<T>,
  standings: Standing[] = [],
): Promise<T> {
  const [loader, ...rest] = loaders;
  if (!loader) return await work(standings);
  return await loader.betweenLoads((standing) => betweenAll(rest, work, [...standings, standing]));
}

/** Others give up what they load after their block, and then it has to be taken up here. */
function notYet(error: unknown): undefined {
  if (!(error instanceof Transient) || error.code !== 'partition_not_standing') throw error;
}
