import { Registry } from 'prom-client';
import { poll } from '../../infra/platform/poll.ts';
import type { Pause } from '../../infra/ports/warehouse.ts';
import { Transient } from '../../schemas/failures.ts';
import { AGGREGATOR_DEFAULTS, type AggregatorOptions } from '../aggregator-options.ts';
import { createAggregatorMetrics } from '../metrics.ts';
import { type Place, WHOLE_LOG } from '../store/leases.ts';
import { takeOverRanges } from '../store/ranges.ts';
import { withInsertLock } from './insert-lock.ts';
import { type Lease, takeLease } from './lease.ts';
import { type LoadDeps, resumeRange } from './load-range.ts';

/** Time for other processes to end the block that they load, and for the lease of a dead one to expire. */
const GIVEN = { timeoutMs: 60_000, everyMs: 200 };

/** Nothing is begun with less left of a lease. */
const LEFT_MS_MIN = 2_000;

/**
 * The load's part in changing a view. It holds the partitions, and first sends again what a crash left
 * pending, under the view and the tokens of the first attempt. Where several processes load the log, it makes
 * them give up their partitions: the processes of the old release would load on while the new one waits, and
 * a rolling deployment waits for the new one. Throws Transient `partition_held` while another process loads,
 * and what {@link resumeRange} and {@link withInsertLock} throw.
 */
export function createPause(
  given: Omit<LoadDeps, 'metrics'>,
  { owner }: Pick<AggregatorOptions, 'owner'>,
): Pause {
  // The load registers the metrics of the process when it starts, so this registry is a private one.
  const deps: LoadDeps = { ...given, metrics: createAggregatorMetrics(new Registry()) };
  const logId = Buffer.from(deps.reader.logId).toString('hex');
  return async (work) => {
    const leases: Lease[] = [];
    try {
      if (deps.reader.partitions > 1) leases.push(await hold(deps, { logId, partition: WHOLE_LOG }, owner));
      for (let partition = 0; partition < deps.reader.partitions; partition++) {
        // mutant: view-changed-with-a-rival
        leases.push(await hold(deps, { logId, partition }, owner));
      }
      // Only now: no other process may load.
      for (const lease of leases) if (lease.partition !== WHOLE_LOG) await resumeHeld(deps, lease);
      // A process that has lost its lease may be in the middle of an insert.
      const checkLeases = () => {
        for (const lease of leases) lease.remainingMs(LEFT_MS_MIN);
      };
      if (!deps.distributed) return await work(async () => checkLeases());
      await withInsertLock(deps.pool, { logId, alone: true }, (checkLock) =>
        work(async () => {
          checkLeases();
          // A statement of the session also keeps the lock, which ends with an idle session.
          // mutant: work-behind-its-pause
          await checkLock();
        }),
      );
    } finally {
      for (const lease of leases) await lease.end();
    }
  };
}

async function resumeHeld(deps: LoadDeps, lease: Lease): Promise<void> {
  // mutant: view-changed-while-pending
  for (const range of await takeOverRanges(deps.pool, lease, lease.epoch)) {
    // Settling reads the tables that are about to change: it is left to the load.
    if (range.state === 'loaded') continue;
    deps.log.info({ lo: range.lo, hi: range.hi, state: range.state }, 'ends a range before a view changes');
    await resumeRange(deps, lease, range);
  }
}

async function hold(deps: LoadDeps, place: Place, owner: string): Promise<Lease> {
  const take = () => takeLease(deps, place, { owner, leaseMs: AGGREGATOR_DEFAULTS.leaseMs });
  const lease = deps.reader.partitions > 1 ? await poll(take, GIVEN) : await take();
  if (!lease) throw new Transient('partition_held', 'Another process loads; the warehouse has to wait.');
  return lease;
}
