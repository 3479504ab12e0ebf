import type { Judged } from '../support/compare.ts';
import { batchRequestOf, type PlannedRequest, planRequests, singleRequestOf } from '../support/generator.ts';
import type { Ledger } from '../support/ledger.ts';
import type { EventScope, MeantEvent } from '../support/planned-event.ts';
import { createRandom, type Random } from '../support/random.ts';
import { type SendOptions, sendAll, sendUntilResponse } from '../support/send.ts';
import { startSenders } from '../support/senders.ts';
import type { Round } from './promise.ts';

export type Workload = ReturnType<typeof startWorkload>;

export interface WorkloadSummary {
  requestsSent: number;
  concurrentCopies: number;
  /** Requests that had to be sent again, since no response came or it was 503. */
  requestsRepeated: number;
}

export interface WorkloadOptions {
  /** Loops that send; a request sent twice at once takes two connections. */
  senders: number;
  batchItems: number;
  /** After each request of a sender; none by default. The ledger keeps every event, some 800 bytes of it. */
  pauseMs?: number;
  /** What is sent of a planned request; all of it by default. */
  sentOf?: (request: PlannedRequest) => PlannedRequest;
  onResponded?: () => void;
}

/** Of the items; half of them within their own batch. */
const REPLAY_SHARE = 0.3;
/** Of the requests: the same bytes on two connections at once. */
export const COPY_SHARE = 0.2;
const PATIENCE_MS = 60_000;
/** What a sender and its copy can have in flight at a kill, and as much again that had just its response. */
const RECENT_PER_SENDER = 4;

/** By ledger the events of all its workloads so far, a bounded window: they are replayed too. */
const past = new WeakMap<Ledger, MeantEvent[]>();

/** A load that runs until it is stopped: every request is repeated until its response comes and is judged. */
export function startWorkload(
  judged: Judged,
  { seed, run }: Pick<Round, 'seed' | 'run'>,
  { senders, batchItems, pauseMs = 0, sentOf = (request) => request, onResponded }: WorkloadOptions,
) {
  const random = createRandom(seed + 1);
  const events = past.get(judged.ledger) ?? [];
  past.set(judged.ledger, events);
  const requests = planRequests({
    ...{ seed, run, batchItems, past: events },
    items: Number.POSITIVE_INFINITY,
    nowMs: Date.now(),
    world: judged.world,
    replayShare: REPLAY_SHARE,
  });
  const summary: WorkloadSummary = { requestsSent: 0, concurrentCopies: 0, requestsRepeated: 0 };
  const recent: PlannedRequest[] = [];
  const sending = sendOptions(judged, (request) => {
    recent.push(request);
    if (recent.length > RECENT_PER_SENDER * senders) recent.shift();
    onResponded?.();
  });

  async function send(): Promise<void> {
    const { value: planned } = requests.next() as { value: PlannedRequest };
    const request = sentOf(planned);
    const copies = random.chance(COPY_SHARE) ? [request, request] : [request];
    summary.requestsSent += copies.length;
    summary.concurrentCopies += copies.length - 1;
    const repeats = await Promise.all(copies.map((copy) => sendUntilResponse(copy, sending)));
    summary.requestsRepeated += repeats.reduce((sum, count) => sum + count, 0);
  }

  return {
    ...startSenders({ senders, pauseMs, send, summary }),
    /** The last requests with a response, newest last. */
    recent: () => [...recent],
  };
}

/** For code that sends during the workload: as patient as it is. */
export function sendOptions(
  { api, ledger }: Judged,
  onResponded?: (request: PlannedRequest) => void,
): SendOptions {
  const watching = onResponded === undefined ? {} : { onResponded };
  return { api, ledger, connections: 4, patienceMs: PATIENCE_MS, ...watching };
}

const SINGLES_MAX = 40;
const REPLAYED_BATCH_ITEMS = 100;

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
  for (let at = 0; at < events.length; at += REPLAYED_BATCH_ITEMS) {
    batches.push(batchRequestOf(events.slice(at, at + REPLAYED_BATCH_ITEMS), scope));
  }
  return batches;
}

function eventsOf(requests: PlannedRequest[]): MeantEvent[] {
  const events = requests.flatMap(({ items }) => items.flatMap(({ event }) => event ?? []));
  return [...new Map(events.map((event) => [event.key, event])).values()];
}
