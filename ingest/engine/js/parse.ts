import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Rejection } from '../../../schemas/error-codes.ts';
import { jsonFault, jsonFaultAt, jsonFaultText } from '../../../schemas/primitives/json-fault.ts';
import { misspelling } from '../../../schemas/primitives/similar-name.ts';
import { API_BASE } from '../../../schemas/route.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { isDense, shallowJson, structureOf } from './shallow-json.ts';

/** The raw items of a request, unchecked, or why the request as a whole is rejected. */
export type Parsed = Items | { rejection: Rejection };

interface Items {
  items: unknown[];
  /** Members of a batch apart from `events`. */
  unknown?: string[];
}

/** One event: the whole body. */
export function parseSingle(body: Buffer): Parsed {
  const parsed = parseJson(body);
  if ('rejection' in parsed) return parsed;
  const { value } = parsed;
  const isBatch = Array.isArray(value) || (isObject(value) && Array.isArray(value.events));
  if (isBatch && !Object.hasOwn(value, 'customerId')) return rejected(BATCH_ON_SINGLE, 'events');
  return isObject(value) ? { items: [value] } : rejected('The body must be a JSON object.');
}

const SINGLE_PATH = `${API_BASE}/usage/events`;
const BATCH_ON_SINGLE = `This path takes one event: send {"events":[…]} to ${SINGLE_PATH}/batch.`;
const SINGLE_ON_BATCH = `This path takes {"events":[…]}: send it so, or one event to ${SINGLE_PATH}.`;

/** A batch: `{"events": [...]}`. */
export function parseBatch(body: Buffer): Parsed {
  const parsed = parseJson(body);
  if ('rejection' in parsed) return parsed;
  const members = isObject(parsed.value) ? parsed.value : {};
  const { events } = members;
  const unknown = Object.keys(members).filter((name) => name !== 'events');
  if (Array.isArray(events)) return bounded(events, unknown);
  if (events === undefined && Object.hasOwn(members, 'customerId'))
    return rejected(SINGLE_ON_BATCH, 'events');
  const meant = misspelling('events', unknown) === undefined ? '' : ' Did you mean `events`?';
  return rejected(`The body must be a JSON object with an array \`events\`.${meant}`, 'events');
}

/** A batch of one item per line; blank lines are skipped. A line that is not JSON rejects the request. */
export function parseLines(body: Buffer): Parsed {
  const items: unknown[] = [];
  let from = markBytes(body);
  for (let number = 1; from < body.length; number++) {
    const begun = afterBlanks(body, from);
    const isBlank = begun === body.length || body[begun] === LINE_FEED;
    const feed = isBlank ? begun : body.indexOf(LINE_FEED, begun);
    const end = feed < 0 ? body.length : feed;
    const at = from;
    from = end + 1;
    if (isBlank) continue;
    const parsed = parseJson(body.subarray(at, end), { what: `Line ${number}`, at });
    if ('rejection' in parsed) return parsed;
    items.push(parsed.value);
    if (items.length > USAGE_LIMITS.batchItemsMax) return bounded(items);
  }
  return bounded(items);
}

/**
 * The text of a number that is marked in the parsed tree, or undefined for an ordinary string. A double would
 * round such a number: 16 or more characters, or an exponent (1e-400 would read as 0).
 */
export function markedNumber(text: string): string | undefined {
  return text.charCodeAt(0) === 0 && text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}

// Begins with U+0000, which no accepted text contains, so the first character identifies nearly every string.
// The rest is random per process, so that no client can write a string that is taken for a number.
const MARK_TEXT = `${randomBytes(16).toString('hex')}:`;
const MARK = `\u0000${MARK_TEXT}`;
const RISKY_NUMBER = /[:[,]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*/g;
const SAFE_NUMBER_CHARS = 15;

/** A byte order mark in front, which Windows' tools write, is no part of the JSON. */
export function withoutMark(body: Buffer): Buffer {
  return body.subarray(markBytes(body));
}

function markBytes(body: Buffer): number {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
}

/** `at`: where these bytes begin in the body. */
function parseJson(
  body: Buffer,
  { what, at } = { what: 'The body', at: 0 },
): { value: unknown } | { rejection: Rejection } {
  const json = at === 0 ? withoutMark(body) : body;
  const from = at + body.length - json.length;
  const notJson = (fault: string): { rejection: Rejection } => ({
    rejection: { code: 'invalid_json', message: `${what} ${fault}.` },
  });
  if (!isUtf8(json)) return notJson(jsonFault(json, from));
  const dense = isDense(json);
  // JSON.parse would find it late.
  const faultAt = dense ? jsonFaultAt(json) : undefined;
  if (faultAt !== undefined) return notJson(jsonFaultText(json, faultAt, from));
  // mutant: body-walked-recursively
  try {
    return { value: parsedText((dense ? shallowJson(json) : json).toString()) };
  } catch {
    return notJson(jsonFault(json, from));
  }
}

/** 30 ms of JSON.parse at the most. Events that fill a body have fewer. */
const VALUES_MAX = 200_000;

/**
 * A body of any form, with all that it holds. Numbers that a double would round are marked texts in it; see
 * {@link markedNumber}.
 */
export function parseWhole(body: Buffer): { value: unknown } | { rejection: Rejection } {
  const json = withoutMark(body);
  if (structureOf(json) > VALUES_MAX) {
    const message = `The body holds more than ${VALUES_MAX} values. Nothing was stored. Send less at once.`;
    return { rejection: { code: 'payload_too_large', message } };
  }
  try {
    if (!isUtf8(json)) throw new SyntaxError('not UTF-8');
    return { value: parsedText(json.toString()) };
  } catch {
    const fault = jsonFault(json, body.length - json.length);
    return { rejection: { code: 'invalid_json', message: `The body ${fault}.` } };
  }
}

function parsedText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return RISKY_NUMBER.test(text) ? JSON.parse(markNumbers(text)) : value;
}

/** Only for a text that is known to be JSON: every match is then a whole string or a whole number. */
function markNumbers(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || isShort(token) ? token : `"\\u0000${MARK_TEXT}${token}"`,
  );
}

function isShort(number: string): boolean {
  return number.length <= SAFE_NUMBER_CHARS && !/[eE]/.test(number);
}

function bounded(items: unknown[], unknown: string[] = []): Parsed {
  if (items.length <= USAGE_LIMITS.batchItemsMax) return { items, unknown };
  return {
    rejection: {
      code: 'batch_too_large',
      message: `A batch holds at most ${USAGE_LIMITS.batchItemsMax} events; nothing was stored.`,
      param: 'events',
    },
  };
}

const LINE_FEED = 10;

function afterBlanks(body: Buffer, from: number): number {
  let at = from;
  for (; at < body.length; at++) {
    const byte = body[at];
    if (byte !== 32 && byte !== 9 && byte !== 13) break;
  }
  return at;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rejected(message: string, param?: string): Parsed {
  return { rejection: { code: 'invalid_request', message, ...(param === undefined ? {} : { param }) } };
}
