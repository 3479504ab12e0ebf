import type { Pool } from 'pg';
import { ATTEMPT_TIMEOUT_MS } from '../send/send.ts';
import { type Target, targetOf } from '../send/target.ts';
import { readEndpoints } from '../store/endpoints.ts';
import { type DueDelivery, giveBack, takeDue } from '../store/take-due.ts';
import type { Job } from './attempt-job.ts';
import type { EndpointQueues } from './endpoint-queues.ts';

export interface Taking {
  pool: Pool;
  owner: string;
  /** Opens what is sealed for the secrets of endpoints. */
  sealingKey: Buffer;
  lanes: EndpointQueues<Job>;
  /** Ids of what was taken, until it is recorded or given back. */
  held: Set<string>;
  heldMax: number;
}

/** Who holds it so long is gone, or has no answer to expect. The clocks of hosts may be 15 s apart. */
export const LEASE_MS = ATTEMPT_TIMEOUT_MS + 15_000;
const ENDPOINTS_AT_ONCE = 200;

/**
 * Takes what is due and there is room for, into the lanes. True when there may be more, of other endpoints.
 */
export async function takeJobs(taking: Taking, now: Date): Promise<boolean> {
  const { pool, owner, lanes, held, heldMax } = taking;
  const deliveriesMax = heldMax - held.size;
  if (deliveriesMax <= 0) return false;
  const rooms = lanes.rooms();
  const otherRoom = lanes.limit;
  const leaseUntil = new Date(now.getTime() + LEASE_MS);
  const limits = { rooms, otherRoom, endpointsMax: ENDPOINTS_AT_ONCE, deliveriesMax };
  const taken = await takeDue(pool, { now, owner, leaseUntil, ...limits });
  // One whose lease ran out before its attempt was recorded is not begun a second time by the same process.
  const fresh = taken.filter(({ id }) => !held.has(id));
  if (fresh.length === 0) return false;
  const targets = await targetsOf(taking, fresh, now);
  const byLane = new Map<string, Job[]>();
  for (const delivery of fresh) {
    const target = targets.get(delivery.endpointId);
    if (!target) continue;
    held.add(delivery.id);
    const jobs = byLane.get(laneOf(delivery)) ?? [];
    jobs.push({ delivery, target });
    byLane.set(laneOf(delivery), jobs);
  }
  for (const [lane, jobs] of byLane) {
    const isCutOff = jobs.length >= (rooms.get(lane) ?? otherRoom);
    lanes.add(lane, jobs, { isCutOff, failures: jobs[0]?.target.failures ?? 0 });
  }
  return byLane.size >= ENDPOINTS_AT_ONCE;
}

function laneOf({ endpointId }: DueDelivery): string {
  return endpointId;
}

/** Deliveries of an endpoint that was disabled just now, or is gone, are given back; all, where it fails. */
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
