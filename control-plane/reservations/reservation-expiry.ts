import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { inJobTransaction, type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import { workThrough } from '../jobs/work-through.ts';
import type { ReservationMetrics } from '../metrics.ts';
import {
  type AccountPlace,
  countOpenReservations,
  findDueAccounts,
  nextReservationExpiry,
} from '../store/reservations.ts';
import { decideTogether } from './decide-together.ts';

export interface ReservationExpiryDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: ReservationMetrics;
}

export interface ReservationExpiryOptions {
  owner?: string;
  everyMs?: number;
}

export const RESERVATION_EXPIRY = 'reservation-expiry';

const CHUNK = 200;
const COUNTED_EVERY_MS = 10_000;
const NOTHING = Buffer.alloc(0);

/**
 * Ends reservations that have expired, where no request of their customer has done so: what has expired takes
 * nothing from a decision, whether or not this job has run.
 */
export function startReservationExpiry(
  deps: ReservationExpiryDeps,
  options: ReservationExpiryOptions = {},
): LeasedJob {
  const { pool, clock, log, metrics } = deps;
  const idOf = ({ customerId }: AccountPlace) => customerId;
  const slow = createBackoffQueue(clock, idOf);
  let countedAtMs = Number.NEGATIVE_INFINITY;

  async function count(): Promise<void> {
    if (clock.monotonicMs() - countedAtMs < COUNTED_EVERY_MS) return;
    countedAtMs = clock.monotonicMs();
    metrics.open(await countOpenReservations(pool));
  }

  /** Of one environment after the other, so that accounts are locked in their order. */
  async function expire(places: readonly AccountPlace[], turn: { job: string; epoch: number }) {
    for (const environment of new Set(places.map((place) => place.environment))) {
      const customerIds = places.filter((place) => place.environment === environment).map(idOf);
      const together = { environment, customerIds, requests: [], nowMs: clock.nowMs, sealingKey: NOTHING };
      const { expired } = await inJobTransaction({ pool, ...turn }, (db) => decideTogether(db, together));
      metrics.ended('expired', expired);
    }
  }

  /** Returns for how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    await count();
    const isAllDone = await workThrough<AccountPlace>({
      ...{ ...turn, idOf, slow, isTogether: true },
      findDue: (except) => findDueAccounts(pool, { now: new Date(clock.nowMs()), except, limit: CHUNK }),
      work: (places, epoch) => expire(places, { job: turn.job, epoch }),
      onFailure: (err, { customerId: customer }) =>
        log.error({ err, customer }, 'expired reservations could not be ended'),
    });
    if (!isAllDone) return undefined;
    const nextAt = await nextReservationExpiry(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: RESERVATION_EXPIRY, look });
}
