import type { Pool } from 'pg';
import { type Day, dropPartitions, makePartitions } from './store/partitions.ts';

/**
 * A delivery is tried for 75 hours, and one of an endpoint that fails is held after 5 days: none is pending.
 */
const KEPT_DAYS = 30;
const MADE_AHEAD_DAYS = 4;
const DAY_MS = 86_400_000;

/** Deliveries are in partitions of a day: makes the coming ones, and drops those that are old enough. */
export async function turnPartitions(pool: Pool, now: Date): Promise<false> {
  await makePartitions(pool, dayOf(now.getTime()), MADE_AHEAD_DAYS);
  await dropPartitions(pool, dayOf(now.getTime() - KEPT_DAYS * DAY_MS));
  return false;
}

function dayOf(ms: number): Day {
  return new Date(ms).toISOString().slice(0, 10);
}
