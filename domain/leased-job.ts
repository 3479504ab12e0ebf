import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { inTransaction } from '../infra/postgres/pool.ts';
import { asTransient, isTimeout } from '../infra/postgres/unavailable.ts';
import { Transient } from '../schemas/failures.ts';
import { countJobRun, endJob, holdJob, shareEpoch } from './store/job-leases.ts';

/** Work that one process of an installation does at a time. */
export interface LeasedJob {
  /** Looks at once, where it pauses; otherwise again when it has looked. */
  wake(): void;
  /** After the running work; the next owner may begin at once. */
  close(): Promise<void>;
}

/** What a look may do. */
export interface JobTurn {
  job: string;
  /** Takes the job's lease or holds on to it: its epoch, undefined while another process has it. */
  hold: () => Promise<number | undefined>;
  /** Gives up what is left. */
  signal: AbortSignal;
}

export interface LeasedJobOptions {
  /** The name of the lease. */
  job: string;
  /** Does what is due, and renews the lease before each piece. Returns how long nothing more is due. */
  look: (turn: JobTurn) => Promise<number | undefined>;
  /** One process's own at any time. */
  owner?: string | undefined;
  leaseMs?: number | undefined;
  /** At most so long between two looks. */
  everyMs?: number | undefined;
}

/**
 * Due work is done within 10 s of its time, even when the owner was killed just after it renewed the lease,
 * and its successor had looked just before that lease expired.
 */
const LEASE_MS = 6_000;
/** At most so long between two looks, unless set otherwise. */
export const EVERY_MS = 2_000;
/** Due times may be close together: the job looks at most this often. */
const PAUSE_MS_MIN = 100;
/** The progress of a job is written at most this often. */
const COUNTED_EVERY_MS = 1_000;

/** Looks again and again until it is closed; a look that fails is logged, and the next one comes. */
export function startLeasedJob(
  { pool, log }: { pool: Pool; log: Logger },
  { job, look, owner = randomUUID(), leaseMs = LEASE_MS, everyMs = EVERY_MS }: LeasedJobOptions,
): LeasedJob {
  const closing = new AbortController();
  let pause = new AbortController();
  /** Of this look. */
  let held: number | undefined;
  let countedAtMs = Number.NEGATIVE_INFINITY;

  async function hold(): Promise<number | undefined> {
    // Between two of these in one look a piece of it has come to its end.
    await count();
    held = await holdJob(pool, job, owner, leaseMs);
    return held;
  }

  async function count(): Promise<void> {
    if (held === undefined || performance.now() - countedAtMs < COUNTED_EVERY_MS) return;
    await countJobRun(pool, job, held);
    countedAtMs = performance.now();
  }

  async function lookOnce(): Promise<number | undefined> {
    held = undefined;
    const restMs = await look({ job, hold, signal: closing.signal });
    await count();
    return restMs;
  }

  async function keepLooking(): Promise<void> {
    while (!closing.signal.aborted) {
      pause = new AbortController();
      const restMs = await lookOnce().catch((err: unknown) => {
        log.warn({ err, job }, 'a job could not be done');
        return undefined;
      });
      const pauseMs = Math.min(Math.max(restMs ?? everyMs, PAUSE_MS_MIN), everyMs);
      await delay(pauseMs, undefined, { signal: pause.signal }).catch(() => undefined);
    }
  }

  const looking = keepLooking();
  return {
    wake: () => pause.abort(),
    async close() {
      closing.abort();
      pause.abort();
      await looking;
      await endJob(pool, job, owner).catch((err: unknown) =>
        log.debug({ err, job }, 'a lease is left to run out'),
      );
    },
  };
}

/** The right to do a piece of a job, as of one epoch of its lease. */
export interface JobEpoch {
  pool: Pool;
  job: string;
  epoch: number;
}

/** A transaction before whose end no other owner begins. Throws Transient `lease_lost` once one has. */
export function inJobTransaction<T>(
  { pool, job, epoch }: JobEpoch,
  work: (db: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (db) => {
    if (await shareEpoch(db, job, epoch)) return work(db);
    throw new Transient('lease_lost', `Another process does the job ${job} now.`);
  });
}

/**
 * True when every other piece of the job would fail as well: Postgres is unavailable, or another owner has
 * begun. False for a piece that took too long: tried first in each look, it would block the others forever.
 */
export function endsLook(error: unknown): boolean {
  return !isTimeout(error) && asTransient(error) instanceof Transient;
}
