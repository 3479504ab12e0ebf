import { drive } from './drive.ts';
import { type Scenario, toward, waitForAll } from './scenario.ts';

/** Taken at once before it is waited for: what waits for the count has a bound of its own. */
const STEP_MS = 5_000;
const TAKEN = { batch: 500, connections: 8, durationMs: STEP_MS };

/** So many, give or take a batch for each connection, and all of them counted. Says how many. */
export async function take(scenario: Scenario, events: number, spreadMs?: number): Promise<number> {
  let taken = 0;
  while (taken < events) {
    const spread = spreadMs === undefined ? {} : { spreadMs };
    const driven = await drive({ ...toward(scenario, TAKEN), ...spread, eventsMax: events - taken });
    taken += driven.events;
    await waitForAll(scenario);
  }
  return taken;
}
