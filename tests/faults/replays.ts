import { batchRequestOf, type PlannedRequest, singleRequestOf } from '../support/generator.ts';
import type { MeantEvent } from '../support/planned-event.ts';
import type { Random } from '../support/random.ts';
import type { World } from '../support/world.ts';

export interface ReplayScope {
  world: World;
  random: Random;
}

const SINGLES_MAX = 40;
const BATCH_ITEMS = 100;

/**
 * Acknowledged requests once more: as they were, then each of their events through a batch that shows it,
 * then some through the single endpoint. Every event of them has to be a duplicate of what was acknowledged.
 */
export function replaysOf(responded: PlannedRequest[], { world, random }: ReplayScope): PlannedRequest[] {
  const events = eventsOf(responded);
  const scope = { world, random, nowMs: Date.now(), responsesShowEvents: true };
  const batches: PlannedRequest[] = [];
  for (let at = 0; at < events.length; at += BATCH_ITEMS) {
    batches.push(batchRequestOf(events.slice(at, at + BATCH_ITEMS), scope));
  }
  const newest = events.slice(-SINGLES_MAX);
  return [...responded, ...batches, ...newest.map((event) => singleRequestOf(event, scope))];
}

function eventsOf(requests: PlannedRequest[]): MeantEvent[] {
  const events = requests.flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  return [...new Map(events.map((event) => [event.key, event])).values()];
}
