import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../infra/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { TellerMetrics } from '../metrics.ts';
import type { Database } from '../request-context.ts';
import { findTurned, putTurnOff, type TurnedCustomer } from '../store/entitlements-told.ts';
import { countFanouts, nextFanout, putFanoutLast } from '../store/fanout-jobs.ts';
import { createChunkSize } from './chunk-size.ts';
import { fanOut, type Told } from './fan-out.ts';
import { tellTurned } from './tell-turned.ts';

export interface EntitlementTellerDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: TellerMetrics;
}

export interface EntitlementTellerOptions {
  /** One process's own at any time. */
  owner?: string;
  leaseMs?: number;
  /** At most so long between two looks; sooner when it is woken. */
  everyMs?: number;
  /** Customers of one transaction, at most. */
  chunkMax?: number;
}

const ENTITLEMENT_TELLER = 'entitlement-teller';

/** The net under the notification of a job, and how late a moment in time is noticed. */
const EVERY_MS = 1_000;
const CHUNK_MAX = 500;
/** Then one that could not be told of a moment is tried again. */
const PUT_OFF_MS = 60_000;

/**
 * Tells `entitlement.changed` where a change touches many customers, or where time has changed a value. Of
 * all processes one at a time does it, under a lease, so that no piece of it overlaps another.
 */
export function startEntitlementTeller(
  { pool, clock, log, metrics }: EntitlementTellerDeps,
  { everyMs = EVERY_MS, chunkMax = CHUNK_MAX, ...options }: EntitlementTellerOptions = {},
): LeasedJob {
  const chunk = createChunkSize(chunkMax);

  async function look(turn: JobTurn): Promise<undefined> {
    await countWaiting();
    while (!turn.signal.aborted) {
      const epoch = await turn.hold();
      if (epoch === undefined || !(await tellChunks({ pool, job: turn.job, epoch }))) break;
    }
    await countWaiting();
  }

  async function countWaiting(): Promise<void> {
    const { jobs, oldestAt } = await countFanouts(pool);
    metrics.waiting(jobs, oldestAt);
  }

  /** Of moments and of changes in turns, so that neither waits for the other. False: of none. */
  async function tellChunks(place: JobEpoch): Promise<boolean> {
    const turned = await findTurned(pool, new Date(clock.nowMs()), chunk.size());
    if (turned.length > 0) {
      const tell = (db: Database) => tellTurned(db, turned, clock.nowMs());
      await tellOne(place, tell, () => putOff({ pool, clock, log }, turned));
    }
    const job = await nextFanout(pool);
    if (!job) return turned.length > 0;
    const size = chunk.size();
    const tell = (db: Database) => fanOut(db, job, { nowMs: clock.nowMs(), chunk: size });
    await tellOne(place, tell, () => putFanoutLast(pool, job, new Date(clock.nowMs())));
    return true;
  }

  /** What fails is tried again, in smaller chunks and after what else waits. */
  async function tellOne(
    place: JobEpoch,
    tell: (db: Database) => Promise<Told>,
    stepAside: () => Promise<void>,
  ): Promise<void> {
    const startedAt = clock.monotonicMs();
    try {
      const { customers, events } = await inJobTransaction(place, tell);
      chunk.took(clock.monotonicMs() - startedAt, customers);
      metrics.told(events);
    } catch (err) {
      chunk.failed();
      metrics.failed();
      await stepAside();
      throw err;
    }
  }

  return startLeasedJob({ pool, log }, { ...options, job: ENTITLEMENT_TELLER, everyMs, look });
}

/** Of several one may be in the way of the others: they are tried in smaller chunks first. */
async function putOff(
  { pool, clock, log }: Omit<EntitlementTellerDeps, 'metrics'>,
  turned: readonly TurnedCustomer[],
): Promise<void> {
  const [only] = turned;
  if (!only || turned.length > 1) return;
  log.error(only, 'a customer could not be told what time has changed');
  await putTurnOff(pool, only, new Date(clock.nowMs() + PUT_OFF_MS));
}
