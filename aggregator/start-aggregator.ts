import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { keptMonthsFromMs } from '../domain/rules/events-retention.ts';
import { createMemoryPool, type MemoryPool } from '../infra/platform/memory-pool.ts';
import type { Clock } from '../infra/ports/clock.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { CHANNELS } from '../schemas/stored/channels.ts';
import { AGGREGATOR_DEFAULTS, type AggregatorOptions, DISTRIBUTED_DEFAULTS } from './aggregator-options.ts';
import { lockDistributedLoad, lockOneLoad } from './audit/audit-lock.ts';
import { type Auditor, startAuditor } from './audit/auditor.ts';
import type { AuditLimits } from './audit/compare-places.ts';
import { startShowingChanges } from './changes/show-changes.ts';
import { READ_BYTES_MAX } from './load/block-reader.ts';
import type { DistributedLoad } from './load/load-range.ts';
import { ALL_PARTITIONS, startPartitionAssignment } from './load/partition-assignment.ts';
import { createPartitionLoader, type PartitionLoader } from './load/partition-loader.ts';
import { createAggregatorMetrics } from './metrics.ts';

export interface AggregatorDeps {
  pool: Pool;
  /** Migrated. */
  warehouse: Warehouse;
  reader: EventLogReader;
  clock: Clock;
  log: Logger;
  metrics: Registry;
  disk: { isLow(): boolean };
  /** Set in distributed mode: other processes write the log too, and several aggregators load it. */
  distributed?: DistributedLoad;
  /** How long stored events are kept; left out: forever. */
  eventsRetentionDays: number | undefined;
  /** The most by which an event's time may be ahead of the time at which it was stored. */
  eventAheadMsMax: number;
  auditLimits?: Partial<AuditLimits>;
  /** For what the load reads from the log; left out: a pool of its own. */
  memory?: MemoryPool;
}

export interface Aggregator {
  /** For the listener: what to do on which channel. */
  readonly channels: Record<(typeof AGGREGATOR_CHANNELS)[number], () => void>;
  /** Rejects when the process has to end. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends after the block that is being loaded. */
  close(): Promise<void>;
}

/** The notifications it listens to. */
export const AGGREGATOR_CHANNELS = [
  CHANNELS.readerWaits,
  CHANNELS.auditRequested,
  CHANNELS.usageChanges,
] as const;

/** The frames of the block that is loaded, its lines, and the frames that are read meanwhile. */
const LOAD_MEMORY = { pieceBytes: READ_BYTES_MAX, keptBytesMax: 96 * 1024 * 1024 };

/** Brings every durable event of the log into the warehouse, once, and runs requested audits. */
export function startAggregator(
  deps: AggregatorDeps,
  options: Pick<AggregatorOptions, 'owner'> & Partial<AggregatorOptions>,
): Aggregator {
  const metrics = createAggregatorMetrics(deps.metrics);
  const { reader, distributed, memory = createMemoryPool(LOAD_MEMORY) } = deps;
  const kept = { keptFromMs: () => keptFromMs(deps) };
  const whole = { ...AGGREGATOR_DEFAULTS, ...(distributed ? DISTRIBUTED_DEFAULTS : {}), ...options };
  const logId = Buffer.from(reader.logId).toString('hex');
  const { owner, leaseMs } = whole;
  const sharing = { logId, owner, leaseMs, partitions: reader.partitions };
  const assignment = distributed ? startPartitionAssignment(deps, sharing) : ALL_PARTITIONS;
  const loaders = Array.from({ length: reader.partitions }, (_, partition) =>
    createPartitionLoader({ ...deps, ...kept, metrics, memory, assignment }, partition, whole),
  );
  const changes = startShowingChanges(deps);
  const auditor = startAuditorOf({ ...deps, ...kept }, loaders, whole);
  return {
    channels: {
      [CHANNELS.readerWaits]: () => {
        for (const loader of loaders) loader.readerWaits();
      },
      [CHANNELS.auditRequested]: () => auditor.requested(),
      [CHANNELS.usageChanges]: () => changes.wake(),
    },
    failed: Promise.race([changes, ...loaders].map(({ failed }) => failed)),
    async close() {
      // The auditor first: an audit needs the partition to be held until it is through.
      await auditor.close();
      await Promise.all([changes, ...loaders].map((one) => one.close()));
      await assignment.close();
    },
  };
}

function startAuditorOf(
  deps: AggregatorDeps & { keptFromMs: () => number },
  loaders: PartitionLoader[],
  { owner, leaseMs }: AggregatorOptions,
): Auditor {
  const isDistributed = deps.distributed !== undefined;
  const auditLock = isDistributed
    ? lockDistributedLoad(deps, loaders, { owner, leaseMs })
    : lockOneLoad(loaders);
  const limits = deps.auditLimits ?? {};
  return startAuditor({ ...deps, isDistributed, limits }, auditLock);
}

/** A month that is deleted within the day may be deleted from one table sooner than from the other. */
const GOING_MS = 86_400_000;

function keptFromMs({ clock, eventsRetentionDays }: AggregatorDeps): number {
  if (eventsRetentionDays === undefined) return 0;
  return keptMonthsFromMs(clock.nowMs() + GOING_MS, eventsRetentionDays);
}
