import { crc32 } from 'node:zlib';
import { numberText, units } from './exact.ts';
import type { PlannedRequest } from './generator.ts';
import type { MeantEvent, PlannedItem } from './planned-event.ts';
import type { World } from './world.ts';

/** An event that was acknowledged: what it meant and what the answers said of it. */
export interface KeptEvent {
  event: MeantEvent;
  id: string;
  /** Known where an answer showed it; a stored event is stored between these two moments in any case. */
  createdAtMs: number | undefined;
  askedAtMs: number;
  answeredAtMs: number;
  /**
   * Which of all that were acknowledged here it was: of one request in the order of its items. Missing where
   * an earlier release wrote the story, which ordered events of one moment by their ids.
   */
  order?: number;
  /** How many answers said `created`. */
  created: number;
  /** CRC-32 of the event as the first answer that shows it does: every later one shows the same bytes. */
  shownCrc: number | undefined;
}

/** One answer: status, the header of a replay, and the body as `parseExact` reads it. */
export interface SeenAnswer {
  status: number;
  replayed: boolean;
  body: unknown;
  askedAtMs: number;
  answeredAtMs: number;
}

/** What the product promised, from acknowledged answers alone. It never looks at the product's stores. */
export interface Ledger {
  /** Judges every result and remembers what was acknowledged. */
  answered(request: PlannedRequest, answer: SeenAnswer): void;
  /**
   * No answer came: the events may or may not be stored; one `created` may be missing. What a later try finds
   * created may carry the times of this one.
   */
  unanswered(request: PlannedRequest, askedAtMs?: number): void;
  events(): Iterable<KeptEvent>;
  size(): number;
  /** Every answer that was wrong, and keys whose number of `created` is not one. Empty when all is well. */
  problems(): string[];
}

/** `known`: what was acknowledged before, in another run. */
export function createLedger(world: World, known: Iterable<KeptEvent> = []): Ledger {
  const kept = new Map([...known].map((entry) => [entry.event.key, entry]));
  const uncertain = new Map<string, number>();
  const faults = createFaults();
  return {
    answered(request, answer) {
      const judge = request.kind === 'single' ? judgeSingle : judgeBatch;
      judge(request, answer, { kept, uncertain, world, faults });
    },
    unanswered(request, askedAtMs = Number.POSITIVE_INFINITY) {
      for (const { event } of request.items) {
        if (event) uncertain.set(event.key, Math.min(askedAtMs, uncertain.get(event.key) ?? askedAtMs));
      }
    },
    events: () => kept.values(),
    size: () => kept.size,
    problems: () => [...faults.list(), ...creationFaults(kept, uncertain)],
  };
}

interface Books {
  kept: Map<string, KeptEvent>;
  /** When keys were first asked for without an answer. */
  uncertain: Map<string, number>;
  world: World;
  faults: Faults;
}

interface Faults {
  add(text: string): void;
  list(): string[];
}

const FAULTS_KEPT = 50;

/** The first faults tell; the others are counted. */
function createFaults(): Faults {
  const texts: string[] = [];
  let more = 0;
  return {
    add: (text) => (texts.length < FAULTS_KEPT ? texts.push(text) : more++),
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

function judgeBatch(request: PlannedRequest, answer: SeenAnswer, books: Books): void {
  const { faults } = books;
  const { summary, results } = (answer.body ?? {}) as BatchBody;
  if (answer.status !== 200 || !Array.isArray(results) || results.length !== request.items.length) {
    faults.add(`a batch of ${request.items.length} got ${answer.status} with ${results?.length} results`);
    return;
  }
  const counts: Record<string, number> = { created: 0, duplicate: 0, error: 0 };
  request.items.forEach((item, at) => {
    const result = results[at] ?? {};
    counts[String(result.status)] = (counts[String(result.status)] ?? 0) + 1;
    if (numberText(result.index) !== String(at)) faults.add(`result ${at} says index ${result.index}`);
    judgeResult(item, result, { request, answer, books });
  });
  const expected = [request.items.length, counts.created, counts.duplicate, counts.error];
  const stated = ['total', 'created', 'duplicate', 'errors'].map((name) => numberText(summary?.[name]));
  if (stated.join() !== expected.join())
    faults.add(`summary ${stated.join()} for results ${expected.join()}`);
}

interface Case {
  request: PlannedRequest;
  answer: SeenAnswer;
  books: Books;
}

function judgeResult(item: PlannedItem, result: BatchResult, { request, answer, books }: Case): void {
  const { faults } = books;
  if (result.idempotencyKey !== item.echoedKey) faults.add(`${item.json}: echoes ${result.idempotencyKey}`);
  if (!item.event) {
    const { code, message } = result.error ?? {};
    const refused = result.status === 'error' && code === item.refusal && typeof message === 'string';
    if (!refused) faults.add(`${item.json}: ${result.status} ${code}, expected ${item.refusal}`);
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
    answer,
    books,
  );
}

function judgeSingle(request: PlannedRequest, answer: SeenAnswer, books: Books): void {
  const event = request.items[0]?.event;
  if (!event || answer.status !== 201) {
    books.faults.add(`${request.body}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return;
  }
  const { id } = (answer.body ?? {}) as { id?: unknown };
  keep(event, { id, created: !answer.replayed, shown: answer.body }, answer, books);
}

interface Acknowledged {
  id: unknown;
  created: boolean;
  shown: unknown;
}

function keep(
  event: MeantEvent,
  told: Acknowledged,
  answer: SeenAnswer,
  { kept, uncertain, world, faults }: Books,
): void {
  const { answeredAtMs } = answer;
  const askedAtMs = Math.min(answer.askedAtMs, uncertain.get(event.key) ?? answer.askedAtMs);
  let entry = kept.get(event.key);
  if (!entry) {
    const unseen = { createdAtMs: undefined, created: 0, shownCrc: undefined };
    entry = { event, id: String(told.id), order: kept.size, askedAtMs, answeredAtMs, ...unseen };
    kept.set(event.key, entry);
  }
  // Of two racing copies the later one may be answered first.
  entry.askedAtMs = Math.min(entry.askedAtMs, askedAtMs);
  if (told.created && entry.answeredAtMs < answer.askedAtMs) {
    faults.add(`${event.key}: created again, though it was acknowledged before it was sent`);
  }
  if (entry.id !== told.id) faults.add(`${event.key}: id ${told.id}, before ${entry.id}`);
  if (told.created) {
    entry.created++;
    // A copy that was sent later may be answered, or heard, before the request that made the event.
    entry.askedAtMs = Math.min(entry.askedAtMs, askedAtMs);
  }
  if (told.shown === undefined) return;
  const fault = shownFault(entry, told.shown, world);
  if (fault !== undefined) faults.add(`${event.key}: ${fault}`);
  const text = JSON.stringify(told.shown);
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
  const { askedAtMs, answeredAtMs } = entry;
  if (!(createdAtMs <= answeredAtMs + CLOCK_SLACK_MS))
    return `createdAt ${createdAtMs} after ${answeredAtMs}`;
  if (entry.created > 0 && createdAtMs < askedAtMs - CLOCK_SLACK_MS) return `createdAt before it was sent`;
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
