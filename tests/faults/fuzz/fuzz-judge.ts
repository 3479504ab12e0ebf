import { ERROR_STATUS, type ErrorCode } from '../../../schemas/error-codes.ts';
import { parseExact } from '../../support/exact.ts';
import type { PlannedRequest } from '../../support/generator.ts';
import { createLedger, type Ledger } from '../../support/ledger.ts';
import type { MeantEvent, PlannedItem } from '../../support/planned-event.ts';
import type { World } from '../../support/world.ts';
import { type Expected, type ExpectedItem, expectResponse, type Meant } from './expected-response.ts';
import type { FuzzRequest } from './fuzz-request.ts';
import { exactValue, isTaggedObject, numberOf, readTagged, type Tagged } from './read-tagged.ts';

export type FuzzJudge = ReturnType<typeof createFuzzJudge>;

/** What is wrong with this response; undefined when it is as the contract says. */
export type JudgeResponse = (response: TimedResponse) => string | undefined;

export interface TimedResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  text: string;
  requestedAtMs: number;
  respondedAtMs: number;
}

const REJECTED_KEYS_KEPT = 400;

/**
 * Judges responses to fuzz requests, and keeps what was acknowledged in the ledger of all other runs. `world`
 * grows by the meters that the product makes of unknown names.
 */
export function createFuzzJudge(world: World) {
  const ledger = createLedger(world);
  const kept = { tries: new Map(), stored: new Set<string>(), rejected: new Set<string>() };
  const books: Books = { world, ledger, ...kept, counts: {} };
  return {
    ledger,
    /** Before it is sent: its content decides what later requests under its keys may receive. */
    expect(request: FuzzRequest): JudgeResponse {
      const expected = expectResponse(request, world);
      if ('items' in expected) for (const item of expected.items) addTry(books, item);
      return (response) => {
        const frame = frameFault(response);
        if (frame !== undefined) return `${frame}: ${response.text.slice(0, 300)}`;
        return contentFault({ request, response, books }, expected);
      };
    },
    /** It was sent whole and its client left before the response: its event may be stored, or not. */
    left(request: FuzzRequest): void {
      const expected = expectResponse(request, world);
      if (!('items' in expected)) return;
      for (const item of expected.items) addTry(books, item);
      const items = expected.items.map((item) => plannedItem(item, 'created', books));
      ledger.withoutResponse(plannedRequest(request, items));
    },
    /** Responses since the last call by outcome: `created`, `duplicate`, an error code. */
    takeCounts(): Record<string, number> {
      const { counts } = books;
      books.counts = {};
      return counts;
    },
    /** Some keys of what was rejected since the last call, which have to be free. */
    takeRejectedKeys(): string[] {
      const free = [...books.rejected].filter((key) => !books.stored.has(key));
      books.rejected.clear();
      return free;
    },
  };
}

interface Books {
  world: World;
  ledger: Ledger;
  /** How many events of a right form were sent under a key. */
  tries: Map<string, number>;
  stored: Set<string>;
  rejected: Set<string>;
  counts: Record<string, number>;
}

interface Case {
  request: FuzzRequest;
  response: TimedResponse;
  books: Books;
}

function contentFault(one: Case, expected: Expected): string | undefined {
  if ('created' in expected) return creationFault(one, expected.created, expected.rejected);
  if ('rejected' in expected) return rejectionFault(one, expected.rejected);
  return one.request.target === 'single' ? singleFault(one, expected.items) : batchFault(one, expected.items);
}

function rejectionFault({ request, response, books }: Case, codes: Set<string>): string | undefined {
  const shown = `${response.status} ${response.text.slice(0, 200)}, expected ${[...codes].join(' or ')}`;
  if (response.status < 400) return `returns ${shown}`;
  const code = codeOf(response);
  if (code instanceof Error) return code.message;
  if (!codes.has(code)) return `returns ${shown}`;
  tally(books, code);
  for (const key of request.keys) addRejected(books, key);
  return undefined;
}

function creationFault(one: Case, sent: Tagged, codes: Set<string>): string | undefined {
  const { request, response, books } = one;
  if (response.status !== 201) {
    return rejectionFault(one, request.what === 'untouched' ? new Set(['nothing']) : codes);
  }
  tally(books, 'created by the control plane');
  const made = readTagged(Buffer.from(response.text))?.value;
  if (!isTaggedObject(sent) || !isTaggedObject(made)) return `made something of ${JSON.stringify(sent)}`;
  const changed = CLIENTS_FIELDS.find((name) => {
    const known = name === '$creditRates' ? ratesKnown(sent[name] ?? null) : (sent[name] ?? null);
    return Object.hasOwn(sent, name) && !isSame(known, made[name] ?? null);
  });
  if (changed === undefined) return undefined;
  const [before, after] = [sent[changed], made[changed]].map((value) => JSON.stringify(value));
  return `stores ${changed} as ${after}, sent ${before}`;
}

/** As the judge reads names. */
const CLIENTS_FIELDS = [
  ...['$name', '$email', '$externalId', '$metadata'],
  ...['$key', '$aggregation', '$property', '$unit', '$creditRate', '$creditRates'],
];

/** Unknown members are ignored, here too. */
function ratesKnown(sent: Tagged): Tagged {
  if (!isTaggedObject(sent)) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => /^\$(property|rates)$/.test(name)));
}

function isSame(sent: Tagged, made: Tagged): boolean {
  const [number, other] = [numberOf(sent), numberOf(made)];
  if (number !== undefined && other !== undefined) return exactValue(number) === exactValue(other);
  if (!isTaggedObject(sent) || !isTaggedObject(made)) return JSON.stringify(sent) === JSON.stringify(made);
  // A property that is null is absent.
  const names = Object.keys(sent).filter((name) => sent[name] !== null);
  const complete = names.length === Object.keys(made).length;
  return complete && names.every((name) => isSame(sent[name] ?? null, made[name] ?? null));
}

function singleFault(one: Case, [expected]: ExpectedItem[]): string | undefined {
  const { request, response, books } = one;
  if (!expected) throw new Error('a single event without an item');
  const error = response.status >= 400 ? codeOf(response) : undefined;
  if (error instanceof Error) return error.message;
  const outcome = error ?? (response.headers['idempotent-replayed'] === 'true' ? 'duplicate' : 'created');
  const fault = outcomeFault(expected, outcome, books);
  if (fault !== undefined) return fault;
  if (error === undefined) keep(one, [plannedItem(expected, outcome, books)]);
  else for (const key of request.keys) addRejected(books, key);
  return undefined;
}

interface BatchBody {
  results?: Array<{ status?: string; error?: { code?: string } }>;
}

function batchFault(one: Case, expected: ExpectedItem[]): string | undefined {
  const { response, books } = one;
  const { results } = JSON.parse(response.text) as BatchBody;
  if (response.status !== 200 || results?.length !== expected.length) {
    const given = `${response.status} ${response.text.slice(0, 200)}`;
    return `the response is ${given}, expected ${expected.length} results`;
  }
  const items: PlannedItem[] = [];
  for (const [at, item] of expected.entries()) {
    const { status = '', error } = results[at] ?? {};
    const outcome = status === 'error' ? String(error?.code) : status;
    const fault = outcomeFault(item, outcome, books);
    if (fault !== undefined) return `item ${at} ${fault}`;
    items.push(plannedItem(item, outcome, books));
  }
  keep(one, items);
  return undefined;
}

function addTry({ tries }: Books, { meant, echoedKey }: ExpectedItem): void {
  if (meant) tries.set(echoedKey, (tries.get(echoedKey) ?? 0) + 1);
}

/**
 * A key of several events may be reported so, whatever else is true of the item: the ledger knows its one.
 */
function outcomeFault(expected: ExpectedItem, outcome: string, books: Books): string | undefined {
  const { faults, stateFaults, maybe, meant, echoedKey } = expected;
  tally(books, outcome);
  const wrong = faults.size > 0 ? faults : stateFaults;
  const isRejected = outcome !== 'created' && outcome !== 'duplicate';
  const isRepeated = meant !== undefined && (books.tries.get(echoedKey) ?? 0) > 1;
  if (isRepeated && (outcome === 'duplicate' || outcome === 'idempotency_key_reused')) return undefined;
  if (isRejected ? wrong.has(outcome) || maybe.has(outcome) : wrong.size === 0 && outcome === 'created') {
    if (isRejected) addRejected(books, echoedKey);
    else books.stored.add(echoedKey);
    return undefined;
  }
  return `returns ${outcome}, expected ${[...wrong, ...maybe].join(' or ') || 'to be created'}`;
}

/** As the ledger wants it: a rejection with the code that was accepted, or the event with its places. */
function plannedItem({ meant, echoedKey }: ExpectedItem, outcome: string, { world }: Books): PlannedItem {
  const isStored = outcome === 'created' || outcome === 'duplicate';
  if (!isStored || !meant) return { json: echoedKey, echoedKey, rejection: outcome };
  return { json: echoedKey, echoedKey, event: placed(meant, world) };
}

function placed(meant: Meant, world: World): MeantEvent {
  const { customer, meter, ...rest } = meant;
  const isMeter = (one: World['meters'][number]) => one.key === meter || (one.id !== '' && one.id === meter);
  if (!world.meters.some(isMeter)) {
    world.meters.push({ key: meter, id: '', aggregation: 'sum', declared: false });
  }
  return {
    ...rest,
    customer: world.customers.findIndex(({ id, externalId }) => id === customer || externalId === customer),
    meter: world.meters.findIndex(isMeter),
  };
}

function keep({ request, response, books }: Case, items: PlannedItem[]): void {
  const { status, text, requestedAtMs, respondedAtMs } = response;
  const replayed = response.headers['idempotent-replayed'] === 'true';
  const seen = { status, replayed, body: parseExact(text), requestedAtMs, respondedAtMs };
  books.ledger.responded(plannedRequest(request, items), seen);
}

const SHOWN_BYTES = 200;

function plannedRequest({ target, includeEvents, body }: FuzzRequest, items: PlannedItem[]): PlannedRequest {
  const kind = target === 'single' ? 'single' : 'batch';
  return { kind, gzip: false, includeEvents, items, body: body.toString('latin1', 0, SHOWN_BYTES) };
}

/** Only keys that a sound event may have. */
function addRejected({ rejected }: Books, key: string): void {
  const isUsable = /^[\x21-\x7e]{1,255}$/.test(key);
  if (isUsable && rejected.size < REJECTED_KEYS_KEPT) rejected.add(key);
}

function tally({ counts }: Books, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Our own words never have these: traces, places in our code, values that were not meant to be printed. */
const INSIDE = [
  /\n\s+at /,
  /node:internal/,
  /\.[jt]s:\d/,
  /\/dist\//,
  /node_modules/,
  /\[object Object\]/,
  /Error:/,
];

/** What is wrong with any response, whatever the request: undefined when nothing is. */
function frameFault({ status, headers, text }: TimedResponse): string | undefined {
  if (status >= 500) return `returns ${status}`;
  if (headers['x-api-version'] !== 'v1') return 'carries no X-API-Version';
  if (headers['content-type'] !== 'application/json') return `is ${headers['content-type']}`;
  if (!isJson(text)) return 'is no JSON';
  const inside = INSIDE.find((pattern) => pattern.test(text));
  return inside && `shows something of the inside: ${inside}`;
}

/** The code of a rejection; an Error that says what is wrong with its form. */
function codeOf({ status, headers, text }: TimedResponse): string | Error {
  const { error } = JSON.parse(text) as { error?: Record<string, unknown> };
  const { code, message, requestId } = error ?? {};
  if (typeof code !== 'string' || !Object.hasOwn(ERROR_STATUS, code))
    return new Error(`has the code ${code}`);
  if (ERROR_STATUS[code as ErrorCode] !== status) return new Error(`returns ${code} as ${status}`);
  if (typeof message !== 'string' || message.length < 5) return new Error('has no message');
  return requestId === headers['x-request-id'] ? code : new Error('has another request id in its header');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
