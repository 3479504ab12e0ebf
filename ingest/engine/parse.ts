import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import type { Refusal } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';

/** The raw items of a request, unchecked, or why the request as a whole is refused. */
export type Parsed = { items: unknown[] } | { refusal: Refusal };

/** One event: the whole body. */
export function parseSingle(body: Buffer): Parsed {
  const parsed = parseJson(body);
  if ('refusal' in parsed) return parsed;
  return isObject(parsed.value) ? { items: [parsed.value] } : refused('The body must be a JSON object.');
}

/** A batch: `{"events": [...]}`. */
export function parseBatch(body: Buffer): Parsed {
  const parsed = parseJson(body);
  if ('refusal' in parsed) return parsed;
  const events = isObject(parsed.value) ? parsed.value.events : undefined;
  if (!Array.isArray(events)) {
    return refused('The body must be a JSON object with an array `events`.', 'events');
  }
  return bounded(events);
}

/** A batch of one item per line; blank lines are passed over. A line that is not JSON refuses the request. */
export function parseLines(body: Buffer): Parsed {
  const items: unknown[] = [];
  let from = 0;
  for (let number = 1; from < body.length; number++) {
    const feed = body.indexOf(10, from);
    const end = feed < 0 ? body.length : feed;
    const line = body.subarray(from, end);
    from = end + 1;
    if (isBlank(line)) continue;
    const parsed = parseJson(line);
    if ('refusal' in parsed) return notJson(`Line ${number} is not valid JSON in UTF-8.`);
    items.push(parsed.value);
    if (items.length > USAGE_LIMITS.batchItemsMax) return bounded(items);
  }
  return bounded(items);
}

/**
 * The text of a number that stands marked in the parsed tree, or undefined when this is an ordinary string.
 * A double would round such a number: 16 or more characters, or an exponent (1e-400 would read as 0).
 */
export function markedNumber(text: string): string | undefined {
  return text.charCodeAt(0) === 0 && text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}

// Begins with U+0000, which no acceptable text holds, so that nearly every string is told by its first
// character; and is random per process, so that no client can write a string that is taken for a number.
const MARK_TEXT = `${randomBytes(16).toString('hex')}:`;
const MARK = `\u0000${MARK_TEXT}`;
const RISKY_NUMBER = /[:[,]\s*-?\d(?:[\d.]{15}|[\d.]*[eE])/;
const STRING_OR_NUMBER = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|-?\d[\d.eE+-]*/g;
const SAFE_NUMBER_CHARS = 15;

function parseJson(body: Buffer): { value: unknown } | { refusal: Refusal } {
  if (!isUtf8(body)) return notJson('The body is not valid UTF-8.');
  const text = body.toString();
  try {
    const value: unknown = JSON.parse(text);
    return { value: RISKY_NUMBER.test(text) ? JSON.parse(markNumbers(text)) : value };
  } catch {
    return notJson('The body is not valid JSON.');
  }
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

function bounded(items: unknown[]): Parsed {
  if (items.length <= USAGE_LIMITS.batchItemsMax) return { items };
  return {
    refusal: {
      code: 'batch_too_large',
      message: `A batch holds at most ${USAGE_LIMITS.batchItemsMax} events; nothing was stored.`,
      param: 'events',
    },
  };
}

function isBlank(line: Buffer): boolean {
  return line.length === 0 || line.every((byte) => byte === 32 || byte === 9 || byte === 13);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(message: string, param?: string): Parsed {
  return { refusal: { code: 'invalid_request', message, ...(param === undefined ? {} : { param }) } };
}

function notJson(message: string): { refusal: Refusal } {
  return { refusal: { code: 'invalid_json', message } };
}
