import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../infra/ports/clock.ts';
import type { EventLogReader } from '../infra/ports/event-log.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { CHANNELS } from '../schemas/channels.ts';
import { keptMonthsFromMs } from '../schemas/rules/events-retention.ts';
import { AGGREGATOR_DEFAULTS, type AggregatorOptions } from './aggregator-options.ts';
import { startAuditor } from './audit/auditor.ts';
import { createAggregatorMetrics } from './metrics.ts';
import { createPartitionLoader } from './partition-loader.ts';

export interface AggregatorDeps {
  pool: Pool;
  /** Migrated. */
  warehouse: Warehouse;
  reader: EventLogReader;
  clock: Clock;
  log: Logger;
  metrics: Registry;
  disk: { isLow(): boolean };
  /** Stored events are kept so long; left out: for ever. */
  eventsRetentionDays: number | undefined;
}

export interface Aggregator {
  /** For the listener: what to do on which channel. */
  readonly channels: Record<(typeof AGGREGATOR_CHANNELS)[number], () => void>;
  /** Rejects when the process has to end. Never resolves. */
  readonly failed: Promise<never>;
  /** Ends after the block that is being loaded. */
  close(): Promise<void>;
}

/** What it has to hear. */
export const AGGREGATOR_CHANNELS = [CHANNELS.readerWaits, CHANNELS.auditAsked] as const;

/** The embedded log has one. */
const PARTITION = 0;

/** Brings everything that is durable on the log into the warehouse, once, and answers audits in between. */
export function startAggregator(
  deps: AggregatorDeps,
  options: Pick<AggregatorOptions, 'owner'> & Partial<AggregatorOptions>,
): Aggregator {
  const metrics = createAggregatorMetrics(deps.metrics);
  const loader = createPartitionLoader({ ...deps, metrics }, PARTITION, {
    ...AGGREGATOR_DEFAULTS,
    ...options,
  });
  const auditor = startAuditor({ ...deps, keptFromMs: () => keptFromMs(deps) }, loader.betweenLoads);
  return {
    channels: {
      [CHANNELS.readerWaits]: () => loader.readerWaits(),
      [CHANNELS.auditAsked]: () => auditor.asked(),
    },
    failed: loader.failed,
    async close() {
      // The auditor first: an audit needs the partition to be held until it is through.
      await auditor.close();
      await loader.close();
    },
  };
}

/** A month that goes within the day may go from one table sooner than from the other. */
const GOING_MS = 86_400_000;

function keptFromMs({ clock, eventsRetentionDays }: AggregatorDeps): number {
  if (eventsRetentionDays === undefined) return 0;
  return keptMonthsFromMs(clock.nowMs() + GOING_MS, eventsRetentionDays);
}
