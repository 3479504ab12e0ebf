import {
  bodyMembers,
  type EventScope,
  itemOf,
  type MeantEvent,
  meanEvent,
  type PlannedItem,
} from './planned-event.ts';
import { rejectedItem } from './planned-rejection.ts';
import { createRandom, type Random } from './random.ts';
import type { World } from './world.ts';

/** One request to be sent as is; its items give the expected results. */
export interface PlannedRequest {
  kind: 'batch' | 'ndjson' | 'single';
  gzip: boolean;
  includeEvents: boolean;
  items: PlannedItem[];
  /** The uncompressed body. */
  body: string;
}

export interface GeneratorOptions {
  seed: number;
  /** Items in all, replays and rejections included. */
  items: number;
  /** Distinguishes the keys of several runs against one store. */
  run: string;
  nowMs: number;
  world: World;
  /** Items of a whole batch; 500, the most there may be. */
  batchItems?: number;
  /** Of the items: 0.2. */
  replayShare?: number;
  /** Events of requests before: replays reach back to them, and what is new is added. */
  past?: MeantEvent[];
}

const BATCH_ITEMS = 500;
const REPLAY_SHARE = 0.2;
const REJECTION_SHARE = 0.004;
const SINGLE_SHARE = 0.5;
/** How far back a replay reaches: sent on other connections just now, or long counted. */
const KEPT_EVENTS = 50_000;

/**
 * The same seed, run and time give the same requests. A fifth of the items are replays: in the same batch,
 * of an earlier batch, or through the single endpoint. Requests may overtake each other in any order.
 */
export function* planRequests(options: GeneratorOptions): Generator<PlannedRequest> {
  const { items, nowMs, world, batchItems = BATCH_ITEMS, replayShare = REPLAY_SHARE, past = [] } = options;
  const random = createRandom(options.seed);
  let sent = 0;
  let keys = 0;
  const newKey = () => `${options.run}-${keys++}-${random.below(1e9).toString(36)}`;
  while (sent < items) {
    const includeEvents = random.chance(0.3);
    const scope: EventScope = { world, random, nowMs, responsesShowEvents: includeEvents };
    const count = Math.min(items - sent, random.chance(0.9) ? batchItems : 1 + random.below(batchItems));
    const batch = planItems(count, { scope, past, newKey, replayShare });
    sent += batch.length;
    yield batchRequest(batch, includeEvents, random);
    if (sent < items && random.chance(SINGLE_SHARE)) {
      sent++;
      yield singleRequest({ ...scope, responsesShowEvents: true }, past, newKey);
    }
  }
}

interface Source {
  scope: EventScope;
  /** Events of this and earlier requests, a bounded window. */
  past: MeantEvent[];
  newKey: () => string;
  replayShare: number;
}

function planItems(count: number, { scope, past, newKey, replayShare }: Source): PlannedItem[] {
  const { random, world, nowMs } = scope;
  const items: PlannedItem[] = [];
  const fresh: MeantEvent[] = [];
  while (items.length < count) {
    if (random.chance(REJECTION_SHARE)) {
      items.push(rejectedItem(newKey(), world.customers[0]?.id ?? '', nowMs, random));
    } else if (random.chance(replayShare) && past.length + fresh.length > 0) {
      items.push(replay(fresh, past, scope));
    } else {
      const event = meanEvent(newKey(), scope);
      fresh.push(event);
      items.push(itemOf(event, scope));
    }
  }
  remember(past, fresh);
  return items;
}

/**
 * Usually the event as it was, spelled differently. Inside a batch, where the order is certain, also with
 * another occurredAt (the first one stays) or with another value (rejected, nothing stored).
 */
function replay(fresh: MeantEvent[], past: MeantEvent[], scope: EventScope): PlannedItem {
  const { random } = scope;
  if (fresh.length === 0 || random.chance(0.5))
    return itemOf(random.pick(past.length > 0 ? past : fresh), scope);
  const event = random.pick(fresh);
  const kind = random.below(20);
  if (kind === 0) {
    const { json, echoedKey } = itemOf({ ...event, value: event.value + 1n }, scope);
    return { json, echoedKey, rejection: 'idempotency_key_reused' };
  }
  if (kind > 2 || event.occurredAtMs === undefined) return itemOf(event, scope);
  return { ...itemOf({ ...event, occurredAtMs: event.occurredAtMs - 3_600_000 }, scope), event };
}

function remember(past: MeantEvent[], fresh: MeantEvent[]): void {
  past.push(...fresh);
  if (past.length > 2 * KEPT_EVENTS) past.splice(0, past.length - KEPT_EVENTS);
}

function batchRequest(items: PlannedItem[], includeEvents: boolean, random: Random): PlannedRequest {
  const lines = items.map((item) => item.json);
  const kind = random.chance(0.1) ? 'ndjson' : 'batch';
  const body = kind === 'ndjson' ? `${lines.join('\n')}\n` : `{"events":[${lines.join(',')}]}`;
  return { kind, gzip: random.chance(0.1), includeEvents, items, body };
}

function singleRequest(scope: EventScope, past: MeantEvent[], newKey: () => string): PlannedRequest {
  const { random } = scope;
  const replayed = past.length > 0 && random.chance(0.6);
  const event = replayed ? random.pick(past) : meanEvent(newKey(), scope);
  if (!replayed) remember(past, [event]);
  return singleRequestOf(event, scope);
}

/** A known event again, through the batch endpoint. */
export function batchRequestOf(events: MeantEvent[], scope: EventScope): PlannedRequest {
  return batchRequest(
    events.map((event) => itemOf(event, scope)),
    true,
    scope.random,
  );
}

/** The same through the single one. */
export function singleRequestOf(event: MeantEvent, scope: EventScope): PlannedRequest {
  const body = `{${bodyMembers(event, scope).join(',')}}`;
  const item = { json: body, echoedKey: event.key, event };
  return { kind: 'single', gzip: false, includeEvents: true, items: [item], body };
}
