import type { Decision, Engine, Response, UsageRequest } from '../../../infra/ports/engine.ts';
import {
  type ClaimBatch,
  type IdempotencyStore,
  OUTCOME,
  type Outcome,
} from '../../../infra/ports/idempotency-store.ts';
import type { Rejection } from '../../../schemas/error-codes.ts';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { idByte, RECORD_WORDS, setTimes } from '../../../schemas/stored/record.ts';
import { EVENT_ID_CHARS, isEventId, voidId } from '../../../schemas/stored/void-ids.ts';
import { OVERLOADED } from '../../http/admission.ts';
import type { UsageRegistry } from '../../registry-entries.ts';
import { claimKeys } from '../claim-keys.ts';
import { type Decided, type Item, newItem, type Reading } from '../decided.ts';
import { keySpaceOf } from '../key-space.ts';
import {
  type EventLimits,
  newEventRejection,
  REUSED,
  UNAVAILABLE,
  unknownName,
} from '../new-event-rejection.ts';
import { resolveNames } from '../resolve-names.ts';
import { batchResponse, rejectedResponse, singleResponse } from '../responses.ts';
import { createIdentifier } from '../wasm/siphash.ts';
import { type CheckedItem, checkItem, unknownMember } from './check-item.ts';
import { framePart } from './frame-part.ts';
import { createIgnoredNames, NO_NAMES, unknownMembers } from './item-members.ts';
import { isObject, markedNumber, parseBatch, parseLines, parseSingle } from './parse.ts';

export interface EngineDeps extends IdentifyDeps {
  /** Its `claim` must return at once. */
  store: IdempotencyStore;
}

export interface IdentifyDeps {
  registry: UsageRegistry;
  /** When an event was created, and how many before it in the same millisecond; see created-at.ts. */
  createdAtMs(): number;
  arrivalOf(createdAtMs: number, count: number): number;
  limits: EventLimits;
  /** 32 bytes for a space of idempotency keys (key-space.ts), derived from the identity key. */
  identityOf(keySpace: string): Uint8Array;
}

/**
 * The engine in TypeScript: about 3.5 µs per event, most of it JSON.parse and garbage collection of its
 * objects. It takes every request; the wasm engine takes requests of the common form before it.
 */
export function createJsEngine(deps: EngineDeps): Engine<Reading> {
  const { read, identify } = createPlainParts(deps);

  function decide(reading: Reading): Decision {
    const { request, items, ignored } = reading;
    if (reading.rejection) return { response: rejectedResponse(reading.rejection, request.requestId) };
    const { times, arrival, ...batch } = identify(items, request);
    return claimKeys(deps.store, batch, (claim) => {
      applyOutcomes(items, batch.outcomes);
      const { change } = request;
      const decided = { items, ignored, change, arrival, records: batch.records, times };
      const response = responseOf(decided, request);
      if (claim.created === 0 && /* mutant: replay-before-its-flush */ !claim.waits) return { response };
      return { response, commit: { claim, ...framePart(decided) } };
    });
  }

  return { read, decide };
}

export function responseOf(decided: Decided, request: UsageRequest): Response {
  return request.kind === 'single' ? singleResponse(decided, request) : batchResponse(decided, request);
}

/**
 * Items that wait for a query of names, with 150 bytes and more each in memory: an item may have two names in
 * its body, and the body is all that admission counts.
 */
const ITEMS_WAITING_MAX = 200_000;

/** The steps before the claim, the same for both stores. */
export function createPlainParts(deps: IdentifyDeps) {
  const identifier = createIdentifier();
  let keyed: string | undefined;
  let itemsWaiting = 0;

  function read(request: UsageRequest): Reading | Promise<Reading> {
    const parsed = parse(request);
    if ('rejection' in parsed) return rejectedReading(request, parsed.rejection);
    const { unknown = NO_NAMES } = parsed;
    if (request.isStrict && unknown.length > 0) {
      return rejectedReading(request, unknownMember(unknown[0] ?? '', ['events']));
    }
    const names = createIgnoredNames(unknown);
    const items = parsed.items.map((raw) => readItem(raw, request, names.add));
    const ignored = names.all();
    const lookUp = resolveNames(deps.registry, request.environment, items);
    if (!lookUp) return { request, items, ignored };
    if (itemsWaiting + items.length > ITEMS_WAITING_MAX) return rejectedReading(request, OVERLOADED);
    return waitFor(lookUp, items).then(() => ({ request, items, ignored }));
  }

  async function waitFor(lookUp: () => Promise<void>, items: Item[]): Promise<void> {
    itemsWaiting += items.length;
    await lookUp().finally(() => {
      itemsWaiting -= items.length;
    });
  }

  function identify(items: Item[], request: UsageRequest): ClaimBatch & Pick<Decided, 'times' | 'arrival'> {
    useKeyOf(keySpaceOf(request));
    const rejectionOf = request.isOwn && request.change ? unknownName : newEventRejection;
    const nowMs = deps.createdAtMs();
    const records = new Uint32Array(items.length * RECORD_WORDS);
    const times = new Float64Array(records.buffer);
    const readOnly = new Uint8Array(items.length);
    let count = 0;
    for (const item of items) {
      if (item.unavailable) item.rejection = UNAVAILABLE;
      if (!item.checked || item.unavailable) continue;
      item.at = count++;
      // mutant: ids-random
      item.identity = identifier.identify(item.checked.idempotencyKey, fingerprintText(item.checked, item));
      identifier.copyTo(records, item.at * RECORD_WORDS);
      if (request.change?.voids) identifyVoid(item, request.change.number, records);
      const occurredAtMs = Number.isNaN(item.checked.occurredAtMs) ? nowMs : item.checked.occurredAtMs;
      setTimes(times, item.at, occurredAtMs, nowMs);
      item.rejection = rejectionOf(item, occurredAtMs, nowMs, deps.limits);
      if (item.rejection) readOnly[item.at] = 1;
    }
    const arrival = deps.arrivalOf(nowMs, count);
    return { count, records, times, arrival, readOnly, outcomes: new Uint8Array(count) };
  }

  function useKeyOf(keySpace: string): void {
    if (keyed === keySpace) return;
    identifier.setKey(deps.identityOf(keySpace));
    keyed = keySpace;
  }

  return { read, identify };
}

function parse(request: UsageRequest) {
  if (request.kind === 'single') return parseSingle(request.body);
  return request.kind === 'batch' ? parseBatch(request.body) : parseLines(request.body);
}

function rejectedReading(request: UsageRequest, rejection: Rejection): Reading {
  return { request, rejection, items: [], ignored: NO_NAMES };
}

function readItem(raw: unknown, request: UsageRequest, ignore: (names: readonly string[]) => void): Item {
  const isEvent = isObject(raw);
  const own = isEvent ? raw.idempotencyKey : undefined;
  const header = request.kind === 'single' ? request.idempotencyKey : undefined;
  const unknown = isEvent ? unknownMembers(raw) : NO_NAMES;
  if (unknown.length > 0) ignore(unknown);
  // One that is empty is left out.
  const isGiven = own !== undefined && own !== null && own !== '';
  if (header && isGiven && own !== header) return newItem(header, KEYS_DIFFER);
  const idempotencyKey = header || own;
  const isText = typeof idempotencyKey === 'string' && markedNumber(idempotencyKey) === undefined;
  const checked = checkItem(raw, { idempotencyKey, unknown, isStrict: request.isStrict === true });
  if (request.change?.voids && !(isText && isEventId(idempotencyKey))) return newItem('', NO_EVENT);
  return newItem(isText ? idempotencyKey : '', checked);
}

/** By its change and the event that it takes away, in place of the key. */
function identifyVoid(item: Item, change: number, records: Uint32Array): void {
  const id = voidId(change, item.idempotencyKey);
  new Uint8Array(records.buffer).set(id, idByte(item.at));
  item.identity = `use_${base32(id)}${item.identity.slice(EVENT_ID_CHARS)}`;
}

const NO_EVENT: Rejection = {
  code: 'invalid_request',
  message: 'A void has the id of an event.',
  param: 'idempotencyKey',
};

const KEYS_DIFFER: Rejection = {
  code: 'idempotency_key_invalid',
  message: 'The Idempotency-Key header and `idempotencyKey` in the body differ. Send one of them.',
  param: 'idempotencyKey',
};

/** Without a known customer and meter the text differs from every stored one: a hit is then a reuse. */
function fingerprintText(checked: CheckedItem, { customerMeter }: Item): string {
  const beginning = customerMeter
    ? customerMeter.fingerprint
    : `?${checked.customer}\u0000${checked.meter}\u0000`;
  return `${beginning}${checked.value}\u0000${checked.properties.json}`;
}

/** A key that is known wins over what is wrong with the item's state: a replay of it was accepted once. */
export function applyOutcomes(items: Item[], outcomes: Uint8Array): void {
  for (const item of items) {
    if (item.at < 0) continue;
    item.outcome = outcomes[item.at] as Outcome; // the store writes nothing else
    if (item.outcome === OUTCOME.reused) item.rejection = REUSED;
    else if (item.outcome !== OUTCOME.absent) item.rejection = undefined;
  }
}
