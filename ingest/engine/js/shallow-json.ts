import { afterString } from '../../../schemas/primitives/json-fault.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';

/**
 * JSON.parse takes a hundred times as long for a mebibyte of brackets as for one of events: 150 ms, in which
 * no other request gets a response. Of such bodies it gets the part alone that a request can mean.
 */

/** A body, its list, an item, its properties: what lies deeper is of the wrong kind, whatever it holds. */
const LEVELS = 4;
/** One more than are taken: that there are too many still shows. */
const ELEMENTS_MAX = USAGE_LIMITS.batchItemsMax + 1;

/** Ordinary events have one comma or bracket in fifteen bytes. */
const DENSE_SHARE = 1 / 8;
/** Fewer cost nothing worth a second look. */
const DENSE_MIN = 200;

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;
const IS_COUNTED = new Uint8Array(256);
for (const byte of [COMMA, OPEN_LIST, OPEN_OBJECT]) IS_COUNTED[byte] = 1;

/** Whether a text, JSON or not, has far more values or levels than events have. */
export function isDense(bytes: Uint8Array): boolean {
  const most = Math.max(DENSE_MIN, bytes.length * DENSE_SHARE);
  return countAll(bytes) > most && structureOf(bytes) > most;
}

/** Commas and opening brackets, those in texts too: without a branch, a quarter of the time. */
function countAll(bytes: Uint8Array): number {
  let found = 0;
  for (let at = 0; at < bytes.length; at++) found += IS_COUNTED[bytes[at] ?? 0] ?? 0;
  return found;
}

/** Commas and opening brackets of a text, JSON or not: about as many as it has values. */
export function structureOf(bytes: Uint8Array): number {
  let found = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (isText && byte === BACKSLASH) at++;
    else if (byte === QUOTE) isText = !isText;
    else if (!isText) found += IS_COUNTED[byte ?? 0] ?? 0;
  }
  return found;
}

/** JSON without what lies below its upper levels, and without what comes behind the first items of a list. */
export function shallowJson(json: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(json.length);
  /** Of each level: elements seen in the list that is open there; undefined in an object. */
  const elements: Array<number | undefined> = [];
  let level = 0;
  /** The level of which the rest is left out; 0 where nothing is. */
  let leftOut = 0;
  let to = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] ?? 0;
    if (byte === QUOTE) {
      const end = afterString(json, at) as number; // JSON has no fault
      if (leftOut === 0) while (at < end) kept[to++] = json[at++] ?? 0;
      at = end - 1;
      continue;
    }
    const isOpening = byte === OPEN_LIST || byte === OPEN_OBJECT;
    const isClosing = byte === CLOSE_LIST || byte === CLOSE_OBJECT;
    if (isClosing && level-- === leftOut) leftOut = 0;
    if (byte === COMMA && leftOut === 0 && isOneTooMany(elements, level)) leftOut = level;
    if (leftOut === 0) kept[to++] = byte;
    if (!isOpening) continue;
    level++;
    if (level <= LEVELS) elements[level] = byte === OPEN_LIST ? 1 : undefined;
    else if (leftOut === 0) leftOut = level;
  }
  return kept.subarray(0, to);
}

/** Counts the element that a comma announces; in a list only. */
function isOneTooMany(elements: Array<number | undefined>, level: number): boolean {
  const before = elements[level];
  if (before === undefined) return false;
  elements[level] = before + 1;
  return before === ELEMENTS_MAX;
}
