import type { EventBatch } from './event-batch.ts';
import { KEY_HEAD } from './usage-event.ts';

/** How many of the events the server has stored now, and how many it had before. */
export interface StoredCounts {
  created: number;
  duplicate: number;
}

const DECODER = new TextDecoder();
/*
 * A result, as the server writes one of an event that it has:
 * {"index":0,"idempotencyKey":"…","status":"created","eventId":"…"}
 */
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const SUMMARY = encode('{"summary":{');
const RESULTS = encode('},"results":[');
const INDEX = encode('{"index":');
const KEY = encode(',"idempotencyKey":"');
const STATUS = encode(',"status":"');
const CREATED = encode('created"');
const DUPLICATE = encode('duplicate"');
const EVENT_ID = encode(',"eventId":"');
const EVENT_HEAD = encode(KEY_HEAD);
const [QUOTE, COMMA, DIGIT_0, CLOSE_LIST, BACKSLASH, CLOSE] = [0x22, 0x2c, 0x30, 0x5d, 0x5c, 0x7d];

/**
 * Of a response with status 200 that has every event of the batch, in order, as created or duplicate, and is
 * written just as the server does. Undefined for every other one, which has to be parsed: to parse this one,
 * and to compare the keys as texts, takes as long as all the rest of sending a batch.
 */
export function storedCounts(response: Uint8Array, events: EventBatch): StoredCounts | undefined {
  const counts = { created: 0, duplicate: 0 };
  let at = resultsBegin(response);
  for (let index = 0; index < events.begins.length; index++) {
    if (index > 0 && response[at++] !== COMMA) return undefined;
    at = behindKey(response, behindIndex(response, at, index), events, index);
    const created = behind(response, at, CREATED);
    if (created > 0) counts.created += 1;
    else counts.duplicate += 1;
    at = behindResult(response, created > 0 ? created : behind(response, at, DUPLICATE));
    if (at === 0) return undefined;
  }
  const isWhole = at > 0 && response[at] === CLOSE_LIST && response[at + 1] === CLOSE;
  return isWhole && response.length === at + 2 ? counts : undefined;
}

/** The idempotency keys of a batch for which there are counts. */
export function storedKeys({ body, begins }: EventBatch): string[] {
  return begins.map((begin) => {
    const from = begin + EVENT_HEAD.length;
    return DECODER.decode(body.subarray(from, body.indexOf(QUOTE, from)));
  });
}

/* Each of these gives the place behind what it has read; 0 if that is not there, or if it is given 0. */

function behind(response: Uint8Array, at: number, expected: Uint8Array): number {
  if (at === 0) return 0;
  return isAt(response, at, expected) ? at + expected.length : 0;
}

function isAt(bytes: Uint8Array, at: number, expected: Uint8Array): boolean {
  for (let next = 0; next < expected.length; next++) {
    if (bytes[at + next] !== expected[next]) return false;
  }
  return true;
}

/** The summary has numbers alone. */
function resultsBegin(response: Uint8Array): number {
  if (!isAt(response, 0, SUMMARY)) return 0;
  return behind(response, response.indexOf(CLOSE), RESULTS);
}

function behindIndex(response: Uint8Array, at: number, index: number): number {
  let next = behind(response, at, INDEX);
  if (next === 0) return 0;
  let read = 0;
  for (; response[next] !== COMMA; next++) {
    const digit = (response[next] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9 || read > index) return 0;
    read = read * 10 + digit;
  }
  return read === index ? behind(response, next, KEY) : 0;
}

/** The key of this very event: a cache in between may return the results of another batch. */
function behindKey(response: Uint8Array, at: number, { body, begins }: EventBatch, index: number): number {
  const begin = begins[index] ?? 0;
  if (at === 0 || !isAt(body, begin, EVENT_HEAD)) return 0;
  for (let [next, sent] = [at, begin + EVENT_HEAD.length]; ; next++, sent++) {
    const byte = body[sent];
    // mutant: another-key-settles
    if (byte === undefined || byte === BACKSLASH || byte !== response[next]) return 0;
    if (byte === QUOTE) return behind(response, next + 1, STATUS);
  }
}

function behindResult(response: Uint8Array, at: number): number {
  if (at === 0) return 0;
  if (response[at] === CLOSE) return at + 1;
  let next = behind(response, at, EVENT_ID);
  if (next === 0) return 0;
  for (; response[next] !== QUOTE; next++) {
    if (next >= response.length || response[next] === BACKSLASH) return 0;
  }
  return response[next + 1] === CLOSE ? next + 2 : 0;
}
