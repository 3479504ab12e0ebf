import type { Pool } from 'pg';
import { ATTEMPT_TIMEOUT_MS } from '../send/send.ts';
import { type Target, targetOf } from '../send/signing-target.ts';
import { readEndpoints } from '../store/endpoints.ts';
import { type DueDelivery, giveBack, takeDue } from '../store/take-due.ts';
import type { Job } from './attempt-job.ts';
import type { EndpointQueues } from './endpoint-queues.ts';

export interface Taking {
  pool: Pool;
  owner: string;
  /** Opens what is sealed for the secrets of endpoints. */
  sealingKey: Buffer;
  queues: EndpointQueues<Job>;
  /** Ids of what was taken, until it is recorded or given back. */
  held: Set<string>;
  heldMax: number;
}

/** After this time an attempt has ended or its process has died. The clocks of hosts may be 15 s apart. */
export const LEASE_MS = ATTEMPT_TIMEOUT_MS + 15_000;
const ENDPOINTS_AT_ONCE = 200;

/** Takes due deliveries into the queues that have room. True when other endpoints may have more. */
export async function takeJobs(taking: Taking, now: Date): Promise<boolean> {
  const { pool, owner, queues, held, heldMax } = taking;
  const deliveriesMax = heldMax - held.size;
  if (deliveriesMax <= 0) return false;
  const capacities = queues.capacities();
  const otherCapacity = queues.limit;
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const limits = { capacities, otherCapacity, endpointsMax: ENDPOINTS_AT_ONCE, deliveriesMax };
  const taken = await takeDue(pool, { now, owner, leaseUntil, ...limits });
  // One whose lease ran out before its attempt was recorded is not begun a second time by the same process.
  const fresh = taken.filter(({ id }) => !held.has(id));
  if (fresh.length === 0) return false;
  const targets = await targetsOf(taking, fresh, now);
  const byEndpoint = new Map<string, Job[]>();
  for (const delivery of fresh) {
    const target = targets.get(delivery.endpointId);
    if (!target) continue;
    held.add(delivery.id);
    const jobs = byEndpoint.get(queueOf(delivery)) ?? [];
    jobs.push({ delivery, target });
    byEndpoint.set(queueOf(delivery), jobs);
  }
  for (const [endpointId, jobs] of byEndpoint) {
    const isCutOff = jobs.length >= (capacities.get(endpointId) ?? otherCapacity);
    queues.add(endpointId, jobs, { isCutOff, failures: jobs[0]?.target.failures ?? 0 });
  }
  return byEndpoint.size >= ENDPOINTS_AT_ONCE;
}

function queueOf({ endpointId }: DueDelivery): string {
  // mutant: one-global-queue
  return endpointId;
}

/**
 * Deliveries of an endpoint that was disabled just now, or was deleted, are given back; all, where it fails.
 */
async function targetsOf(
  taking: Taking,
  taken: readonly DueDelivery[],
  now: Date,
): Promise<Map<string, Target>> {
  const ids = [...new Set(taken.map(({ endpointId }) => endpointId))];
  const targets = new Map<string, Target>();
  try {
    const rows = await readEndpoints(taking.pool, ids, now);
    for (const row of rows) targets.set(row.id, targetOf(row, taking.sealingKey));
  } finally {
    const lost = taken.filter(({ endpointId }) => !targets.has(endpointId));
    await release(
      taking,
      lost.map((delivery) => ({ delivery })),
    );
  }
  return targets;
}

/** Gives back what was not tried; where that fails it is left to its lease. */
export async function release(
  { pool, owner, held }: Pick<Taking, 'pool' | 'owner' | 'held'>,
  jobs: ReadonlyArray<Pick<Job, 'delivery'>>,
): Promise<void> {
  const ids = jobs.map(({ delivery }) => delivery.id);
  for (const id of ids) held.delete(id);
  if (ids.length > 0) await giveBack(pool, owner, ids).catch(() => undefined);
}
