import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import { Transient } from '../../schemas/failures.ts';
import { acquireLease, endLease, type Place, renewLease } from '../store/leases.ts';

/** The right to move a partition's position. Renewed by itself until it is ended or lost. */
export interface Lease extends Place {
  readonly epoch: number;
  /**
   * How long no other process can hold the partition, by a monotonic clock: what is begun must end by then.
   * Throws Transient `lease_lost` when that is less than `atLeastMs`.
   */
  remainingMs(atLeastMs: number): number;
  end(): Promise<void>;
}

export interface LeaseOptions {
  /** Nothing else distinguishes two processes: at any time only one process may use the name. */
  owner: string;
  leaseMs: number;
}

export interface LeaseDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

/** A statement of this epoch changed nothing: a newer owner has the partition. */
export function leaseLost(): Transient {
  return new Transient('lease_lost', 'Another process has taken over the partition.');
}

/** Undefined while another owner holds it. */
export async function takeLease(
  { pool, clock, log }: LeaseDeps,
  place: Place,
  { owner, leaseMs }: LeaseOptions,
): Promise<Lease | undefined> {
  // Counted from before the question: the database counts from after it.
  let heldUntilMs = clock.monotonicMs() + leaseMs;
  const epoch = await acquireLease(pool, place, owner, leaseMs);
  if (epoch === undefined) return undefined;
  const ending = new AbortController();

  async function keepRenewing(held: number): Promise<void> {
    while (await passed(leaseMs / 3, ending.signal)) {
      const requestedAtMs = clock.monotonicMs();
      const renewed = await renewLease(pool, place, held, leaseMs).catch((err: unknown) => {
        log.warn({ err, ...place }, 'cannot renew a lease');
        return undefined;
      });
      if (renewed) heldUntilMs = requestedAtMs + leaseMs;
      if (renewed === false) {
        heldUntilMs = Number.NEGATIVE_INFINITY;
        return;
      }
    }
  }

  const renewing = keepRenewing(epoch);
  return {
    ...place,
    epoch,
    remainingMs(atLeastMs) {
      const left = heldUntilMs - clock.monotonicMs();
      if (left < atLeastMs) throw new Transient('lease_lost', 'The lease of the partition has run out.');
      return left;
    },
    async end() {
      ending.abort();
      await renewing;
      await endLease(pool, place, epoch).catch((err: unknown) =>
        log.debug({ err }, 'a lease is left to run out'),
      );
    },
  };
}

/** False when the signal came first. */
function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  return delay(ms, true, { signal }).catch(() => false);
}
