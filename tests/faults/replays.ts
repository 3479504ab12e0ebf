import type { Judged } from '../support/compare.ts';
import { batchRequestOf, type PlannedRequest, singleRequestOf } from '../support/generator.ts';
import type { EventScope, MeantEvent } from '../support/planned-event.ts';
import type { Random } from '../support/random.ts';
import { sendAll } from '../support/send.ts';
import { sendOptions } from './workload.ts';

const SINGLES_MAX = 40;
const BATCH_ITEMS = 100;

/**
 * Sends acknowledged requests once more: as they were, then each of their events through a batch that shows
 * it, then some through the single endpoint. Every event of them has to be a duplicate of what was
 * acknowledged. Resolves with the number of items.
 */
export async function sendReplays(
  judged: Judged,
  acknowledged: PlannedRequest[],
  random: Random,
): Promise<number> {
  const events = eventsOf(acknowledged);
  const scope = { world: judged.world, random, nowMs: Date.now(), responsesShowEvents: true };
  const singles = events.slice(-SINGLES_MAX).map((event) => singleRequestOf(event, scope));
  const replays = [...acknowledged, ...batchesOf(events, scope), ...singles];
  return (await sendAll(replays, sendOptions(judged))).items;
}

/** Batches of these events that request them in the response. */
export function batchesOf(events: MeantEvent[], scope: EventScope): PlannedRequest[] {
  const batches: PlannedRequest[] = [];
  for (let at = 0; at < events.length; at += BATCH_ITEMS) {
    batches.push(batchRequestOf(events.slice(at, at + BATCH_ITEMS), scope));
  }
  return batches;
}

function eventsOf(requests: PlannedRequest[]): MeantEvent[] {
  const events = requests.flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  return [...new Map(events.map((event) => [event.key, event])).values()];
}
