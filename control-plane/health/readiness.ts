import type { Pool } from 'pg';
import type { JobWatch } from '../../domain/job-watch.ts';
import { type Check, runHealthChecks } from '../../infra/platform/health-checks.ts';
import { shareOutcome } from '../../infra/platform/shared-outcome.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import type { ControlCheck } from '../../schemas/readiness-names.ts';
import type { Readiness } from '../../schemas/resources/service.ts';
import {
  countQuarantined,
  listPartitionAlarms,
  ping,
  readLastAudit,
  readPendingSince,
} from '../store/readiness.ts';
import { readRepairs } from '../store/repairs.ts';
import type { Freshness } from '../usage/freshness.ts';

export interface ReadinessDeps {
  pool: Pool;
  warehouse: Warehouse;
  freshness: Freshness;
  /** Hex. Alarms of another log are ignored. */
  logId: string;
  jobWatch: JobWatch;
  limits?: LagLimits | undefined;
}

/** Beyond either limit the counters are reported as late. */
export interface LagLimits {
  bytesMax: number;
  secondsMax: number;
}

/** 4 GiB are some 18 million events, minutes of loading at full speed. */
const LAG_LIMITS: LagLimits = { bytesMax: 4 * 1024 ** 3, secondsMax: 60 };
const WAREHOUSE_TIMEOUT_MS = 2_000;
const ALARMS_SHOWN = 20;
/** Deliveries of an event are created within milliseconds; when they arrive depends on their receivers. */
const PENDING_MS_MAX = 60_000;

/**
 * Checks all dependencies of this process, once for all concurrent requests
 * (infra/platform/shared-outcome.ts).
 */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  const { pool, warehouse, freshness, logId, jobWatch, limits = LAG_LIMITS } = deps;
  const checks: Record<ControlCheck, Check> = {
    postgres: async () => void (await ping(pool)),
    warehouse: async () => {
      await warehouse.query({ sql: 'SELECT 1', connection: 'counters', timeoutMs: WAREHOUSE_TIMEOUT_MS });
      return undefined;
    },
    lag: async () => {
      await freshness.arrive();
      return tooLate(freshness, limits);
    },
    partitions: async () => {
      const alarms = await listPartitionAlarms(pool, logId, ALARMS_SHOWN);
      const named = alarms.map(
        ({ partition, code, message }) => `partition ${partition}: ${code}: ${message}`,
      );
      return named.join('; ') || undefined;
    },
    quarantine: async () => {
      const lines = await countQuarantined(pool);
      return lines === 0 ? undefined : `${lines} lines are quarantined and are not counted`;
    },
    audit: async () => (await failedRepair(pool)) ?? knownDifferences(pool),
    outbox: () => pendingEvents(pool),
    jobs: async () => jobWatch.stalled(),
  };

  return shareOutcome(() => runHealthChecks(checks));
}

function tooLate(freshness: Freshness, { bytesMax, secondsMax }: LagLimits): string | undefined {
  const { bytes, records, seconds } = freshness.lag();
  if (bytes <= bytesMax && seconds <= secondsMax) return undefined;
  const left = records === undefined ? `${bytes} bytes` : `${records} records`;
  return `${left} of the log are not counted yet, the oldest for ${Math.round(seconds)} s`;
}

/** A repair that a person requested is not retried automatically. */
async function failedRepair(pool: Pool): Promise<string | undefined> {
  const { hasFailed } = await readRepairs(pool);
  return hasFailed
    ? 'a repair has failed; strong reads are rejected until a repair succeeds: npm run audit -- --repair'
    : undefined;
}

async function knownDifferences(pool: Pool): Promise<string | undefined> {
  const audit = await readLastAudit(pool);
  if (!audit || audit.differences === 0) return undefined;
  const when = timestampText(audit.finishedAt.getTime());
  return `the audit of ${when} left ${audit.differences} differences: npm run audit -- --repair`;
}

async function pendingEvents(pool: Pool): Promise<string | undefined> {
  const since = await readPendingSince(pool);
  if (!since || Date.now() - since.getTime() < PENDING_MS_MAX) return undefined;
  const time = timestampText(since.getTime());
  return `webhook events have been waiting since ${time} for their deliveries to be created`;
}
