import { crc32 } from 'node:zlib';
import { numberText, units } from './exact.ts';
import type { PlannedRequest } from './generator.ts';
import type { MeantEvent, PlannedItem } from './planned-event.ts';
import type { World } from './world.ts';

/** An acknowledged event: what was sent and what the responses said of it. */
export interface KeptEvent {
  event: MeantEvent;
  id: string;
  /** Known where a response showed it; in any case the event was stored between these two times. */
  createdAtMs: number | undefined;
  requestedAtMs: number;
  respondedAtMs: number;
  /**
   * Which of all that were acknowledged here it was: of one request in the order of its items. Missing where
   * an earlier release wrote the story, which ordered events of the same time by their ids.
   */
  order?: number;
  /** How many responses said `created`. */
  created: number;
  /** CRC-32 of the event as the first response that shows it does: every later one shows the same bytes. */
  shownCrc: number | undefined;
}

/** One response: status, the header of a replay, and the body as `parseExact` reads it. */
export interface SeenResponse {
  status: number;
  replayed: boolean;
  body: unknown;
  requestedAtMs: number;
  respondedAtMs: number;
}

/** What the product promised, from acknowledged responses alone. It never reads the product's stores. */
export interface Ledger {
  /** Judges every result and remembers what was acknowledged. */
  responded(request: PlannedRequest, response: SeenResponse): void;
  /**
   * No response came: the events may or may not be stored; one `created` may be missing. What a later try
   * finds created may carry the times of this one.
   */
  withoutResponse(request: PlannedRequest, requestedAtMs?: number): void;
  events(): Iterable<KeptEvent>;
  size(): number;
  /** Every wrong response, and keys whose number of `created` is not one. Empty when all is well. */
  problems(): string[];
}

/** `known`: what was acknowledged before, in another run. */
export function createLedger(world: World, known: Iterable<KeptEvent> = []): Ledger {
  const kept = new Map([...known].map((entry) => [entry.event.key, entry]));
  const uncertain = new Map<string, number>();
  const faults = createFaults(FAULTS_KEPT);
  return {
    responded(request, response) {
      const judge = request.kind === 'single' ? judgeSingle : judgeBatch;
      judge(request, response, { kept, uncertain, world, faults });
    },
    withoutResponse(request, requestedAtMs = Number.POSITIVE_INFINITY) {
      for (const { event } of request.items) {
        if (event)
          uncertain.set(event.key, Math.min(requestedAtMs, uncertain.get(event.key) ?? requestedAtMs));
      }
    },
    events: () => kept.values(),
    size: () => kept.size,
    problems: () => [...faults.list(), ...creationFaults(kept, uncertain)],
  };
}

interface Books {
  kept: Map<string, KeptEvent>;
  /** When keys were first sent without a response. */
  uncertain: Map<string, number>;
  world: World;
  faults: Faults;
}

export interface Faults {
  add(text: string): void;
  list(): string[];
}

const FAULTS_KEPT = 50;

/** Keeps the first faults; counts the others. */
export function createFaults(most: number): Faults {
  const texts: string[] = [];
  let more = 0;
  return {
    add: (text) => (texts.length < most ? texts.push(text) : more++),
    list: () => (more === 0 ? [...texts] : [...texts, `and ${more} more`]),
  };
}

interface BatchBody {
  summary?: Record<string, unknown>;
  results?: BatchResult[];
}

interface BatchResult {
  index?: unknown;
  idempotencyKey?: unknown;
  status?: unknown;
  eventId?: unknown;
  event?: unknown;
  error?: { code?: unknown; message?: unknown };
}

function judgeBatch(request: PlannedRequest, response: SeenResponse, books: Books): void {
  const { faults } = books;
  const { summary, results } = (response.body ?? {}) as BatchBody;
  if (response.status !== 200 || !Array.isArray(results) || results.length !== request.items.length) {
    faults.add(`a batch of ${request.items.length} got ${response.status} with ${results?.length} results`);
    return;
  }
  const counts: Record<string, number> = { created: 0, duplicate: 0, error: 0 };
  request.items.forEach((item, at) => {
    const result = results[at] ?? {};
    counts[String(result.status)] = (counts[String(result.status)] ?? 0) + 1;
    if (numberText(result.index) !== String(at)) faults.add(`result ${at} says index ${result.index}`);
    judgeResult(item, result, { request, response, books });
  });
  const expected = [request.items.length, counts.created, counts.duplicate, counts.error];
  const stated = ['total', 'created', 'duplicate', 'errors'].map((name) => numberText(summary?.[name]));
  if (stated.join() !== expected.join())
    faults.add(`summary ${stated.join()} for results ${expected.join()}`);
}

interface Case {
  request: PlannedRequest;
  response: SeenResponse;
  books: Books;
}

function judgeResult(item: PlannedItem, result: BatchResult, { request, response, books }: Case): void {
  const { faults } = books;
  if (result.idempotencyKey !== item.echoedKey) faults.add(`${item.json}: echoes ${result.idempotencyKey}`);
  if (!item.event) {
    const { code, message } = result.error ?? {};
    const rejected = result.status === 'error' && code === item.rejection && typeof message === 'string';
    if (!rejected) faults.add(`${item.json}: ${result.status} ${code}, expected ${item.rejection}`);
    return;
  }
  if (result.status !== 'created' && result.status !== 'duplicate') {
    faults.add(`${item.json}: ${result.status} ${result.error?.code}, expected to be stored`);
    return;
  }
  if ('event' in result !== request.includeEvents)
    faults.add(`${item.json}: event shown: ${'event' in result}`);
  keep(
    item.event,
    { id: result.eventId, created: result.status === 'created', shown: result.event },
    response,
    books,
  );
}

function judgeSingle(request: PlannedRequest, response: SeenResponse, books: Books): void {
  const event = request.items[0]?.event;
  if (!event || response.status !== 201) {
    books.faults.add(`${request.body}: ${response.status} ${JSON.stringify(response.body)}`);
    return;
  }
  const { id } = (response.body ?? {}) as { id?: unknown };
  keep(event, { id, created: !response.replayed, shown: response.body }, response, books);
}

interface Acknowledged {
  id: unknown;
  created: boolean;
  shown: unknown;
}

function keep(
  event: MeantEvent,
  acknowledged: Acknowledged,
  response: SeenResponse,
  { kept, uncertain, world, faults }: Books,
): void {
  const { respondedAtMs } = response;
  const requestedAtMs = Math.min(response.requestedAtMs, uncertain.get(event.key) ?? response.requestedAtMs);
  let entry = kept.get(event.key);
  if (!entry) {
    const unseen = { createdAtMs: undefined, created: 0, shownCrc: undefined };
    entry = { event, id: String(acknowledged.id), order: kept.size, requestedAtMs, respondedAtMs, ...unseen };
    kept.set(event.key, entry);
  }
  // Of two racing copies the later one may receive its response first.
  entry.requestedAtMs = Math.min(entry.requestedAtMs, requestedAtMs);
  if (acknowledged.created && entry.respondedAtMs < response.requestedAtMs) {
    faults.add(`${event.key}: created again, though it was acknowledged before it was sent`);
  }
  if (entry.id !== acknowledged.id) faults.add(`${event.key}: id ${acknowledged.id}, before ${entry.id}`);
  if (acknowledged.created) entry.created++;
  if (acknowledged.shown === undefined) return;
  const fault = shownFault(entry, acknowledged.shown, world);
  if (fault !== undefined) faults.add(`${event.key}: ${fault}`);
  const text = JSON.stringify(acknowledged.shown);
  entry.shownCrc ??= crc32(text);
  if (entry.shownCrc !== crc32(text)) faults.add(`${event.key}: shown with other bytes: ${text}`);
}

/** Compares a stored event with what was meant, and learns its createdAt from the first that is shown. */
export function shownFault(entry: KeptEvent, shown: unknown, world: World): string | undefined {
  const { event } = entry;
  const seen = shown as Record<string, unknown>;
  const createdAtMs = Date.parse(String(seen.createdAt));
  entry.createdAtMs ??= createdAtMs;
  if (createdAtMs !== entry.createdAtMs) return `createdAt ${seen.createdAt} is not the first one`;
  const { requestedAtMs, respondedAtMs } = entry;
  if (!(createdAtMs <= respondedAtMs + CLOCK_SLACK_MS))
    return `createdAt ${createdAtMs} after ${respondedAtMs}`;
  if (entry.created > 0 && createdAtMs < requestedAtMs - CLOCK_SLACK_MS)
    return `createdAt before it was sent`;
  const properties = Object.fromEntries(event.properties.map(({ name, shown: value }) => [name, value]));
  const expected: Record<string, unknown> = {
    id: entry.id,
    customerId: world.customers[event.customer]?.id,
    meterId: world.meters[event.meter]?.key,
    eventName: 'usage.recorded',
    status: 'recorded',
    occurredAt: new Date(event.occurredAtMs ?? createdAtMs).toISOString(),
  };
  for (const [name, value] of Object.entries(expected)) {
    if (seen[name] !== value) return `${name} is ${seen[name]}, expected ${value}`;
  }
  const value = numberText(seen.value);
  if (value === undefined || units(value) !== event.value) return `value is ${seen.value}`;
  const sameProperties = JSON.stringify(seen.properties ?? {}) === JSON.stringify(properties);
  return sameProperties ? undefined : `properties are ${JSON.stringify(seen.properties)}`;
}

/** Both clocks are this machine's; a step of the clock between two reads is all that this allows for. */
const CLOCK_SLACK_MS = 50;

function creationFaults(kept: Map<string, KeptEvent>, uncertain: Map<string, number>): string[] {
  const found: string[] = [];
  for (const [key, { created }] of kept) {
    const sound = created === 1 || (created === 0 && uncertain.has(key));
    if (!sound && found.length < FAULTS_KEPT) found.push(`${key}: created ${created} times`);
  }
  return found;
}
