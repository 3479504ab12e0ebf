import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  EVERY_MS,
  endsLook,
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import {
  advanceSimulation,
  completeSimulation,
  failSimulation,
  nextSimulated,
  nextSimulation,
  type SimulationRow,
} from '../store/simulations.ts';
import { simulateCustomers } from './simulate-customers.ts';

export interface SimulatorDeps {
  pool: Pool;
  warehouse: Warehouse;
  clock: Clock;
  log: Logger;
  /** Everything acknowledged before this time is counted, milliseconds since 1970. */
  asOfMs: () => number;
}

export interface SimulatorOptions {
  /** The name of this process, unique at any time. */
  owner?: string;
  leaseMs?: number;
  everyMs?: number;
  /** The largest number of customers in one step. */
  chunkMax?: number;
}

export const SIMULATOR = { job: 'simulator', everyMs: EVERY_MS };

/** A statement of the warehouse grows with them. */
const CHUNK_MAX = 500;
const FAILURES_MAX = 5;

/**
 * Runs simulations, a chunk of customers of each in turn. The results of a chunk and the position are written
 * in one transaction: a process that is killed at any point leaves nothing to undo, and the next owner of the
 * lease continues.
 */
export function startSimulator(deps: SimulatorDeps, options: SimulatorOptions = {}): LeasedJob {
  const { chunkMax = CHUNK_MAX, everyMs = SIMULATOR.everyMs, ...owned } = options;
  const chunk = createChunk(chunkMax);

  async function look(turn: JobTurn): Promise<undefined> {
    while (!turn.signal.aborted) {
      const epoch = await turn.hold();
      const simulation = epoch === undefined ? undefined : await nextSimulation(deps.pool);
      if (epoch === undefined || !simulation) return;
      await workOn({ ...deps, job: turn.job, epoch, chunk }, simulation);
    }
  }

  return startLeasedJob(deps, { ...owned, job: SIMULATOR.job, everyMs, look });
}

interface Step extends SimulatorDeps, JobEpoch {
  chunk: Chunk;
}

/** How many customers a step has. */
type Chunk = ReturnType<typeof createChunk>;

/** A customer may have far more subscriptions than others: a step that failed is tried with fewer. */
function createChunk(max: number) {
  let size = max;
  return {
    size: () => size,
    succeeded() {
      size = Math.min(size * 2, max);
    },
    failed() {
      size = Math.max(Math.floor(size / 4), 1);
    },
  };
}

/** What fails is tried again in smaller steps, after the other simulations. Throws Transient. */
async function workOn(step: Step, simulation: SimulationRow): Promise<void> {
  const { pool, clock, log, chunk } = step;
  try {
    await simulateNext(step, simulation);
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
    chunk.failed();
    log.error({ err, simulation: simulation.id }, 'a step of a simulation failed');
    await failSimulation(pool, simulation, { at: new Date(clock.nowMs()), failuresMax: FAILURES_MAX });
  }
}

async function simulateNext(step: Step, simulation: SimulationRow): Promise<void> {
  const { pool, warehouse, clock, chunk, asOfMs } = step;
  const size = chunk.size();
  const customerIds = await nextSimulated(pool, simulation, size);
  const asOf = new Date(asOfMs());
  const results =
    customerIds.length === 0 ? [] : await simulateCustomers({ db: pool, warehouse }, simulation, customerIds);
  const [position, at] = [customerIds.at(-1) ?? simulation.position, new Date(clock.nowMs())];
  await inJobTransaction(step, async (db) => {
    if (results.length > 0) await advanceSimulation(db, simulation, results, { position, at, asOf });
    if (customerIds.length < size) await completeSimulation(db, simulation, at);
  });
  chunk.succeeded();
}
