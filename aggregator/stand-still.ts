import { Registry } from 'prom-client';
import type { Standstill } from '../infra/ports/warehouse.ts';
import { Transient } from '../schemas/failures.ts';
import { AGGREGATOR_DEFAULTS, type AggregatorOptions } from './aggregator-options.ts';
import { type Lease, takeLease } from './lease.ts';
import { type LoadDeps, resumeRange } from './load-range.ts';
import { createAggregatorMetrics } from './metrics.ts';
import type { Place } from './store/leases.ts';
import { takeOverRanges } from './store/ranges.ts';

/**
 * The load's part in changing a view: its partition is held, and what a crash left pending is sent again
 * first, under the view and the tokens that it was sent under before. Throws Transient `partition_held`
 * while another process loads, and what {@link resumeRange} throws.
 */
export function createStandstill(
  given: Omit<LoadDeps, 'metrics'>,
  { owner }: Pick<AggregatorOptions, 'owner'>,
): Standstill {
  // Of its own: the load registers those of the process when it starts.
  const deps: LoadDeps = { ...given, metrics: createAggregatorMetrics(new Registry()) };
  const logId = Buffer.from(deps.reader.logId).toString('hex');
  return async (work) => {
    const leases: Lease[] = [];
    try {
      for (let partition = 0; partition < deps.reader.partitions; partition++) {
        leases.push(await standStill(deps, { logId, partition }, owner));
      }
      await work();
    } finally {
      for (const lease of leases) await lease.end();
    }
  };
}

async function standStill(deps: LoadDeps, place: Place, owner: string): Promise<Lease> {
  const lease = await takeLease(deps, place, { owner, leaseMs: AGGREGATOR_DEFAULTS.leaseMs });
  if (!lease) throw new Transient('partition_held', 'Another process loads; the warehouse has to wait.');
  try {
    for (const range of await takeOverRanges(deps.pool, lease, lease.epoch)) {
      // Settling reads the tables that are about to change: it is left to the load.
      if (range.state === 'loaded') continue;
      deps.log.info({ lo: range.lo, hi: range.hi, state: range.state }, 'ends a range before a view changes');
      await resumeRange(deps, lease, range);
    }
    return lease;
  } catch (error) {
    await lease.end();
    throw error;
  }
}
