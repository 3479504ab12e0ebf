import { ULID_CHARS, ulid } from './ulid.ts';

/** An amount of a meter that a customer used. */
export interface UsageEvent {
  /** The customer's id, or your own `externalId`. */
  customerId: string;
  /** The meter's key. */
  meterId: string;
  /** A decimal as text where a number would lose digits. */
  value: number | string;
  /** When it was used; the time of the call when left out. */
  occurredAt?: Date | string;
  /** Dimensions of a breakdown. */
  properties?: Record<string, string | number | boolean | null>;
  /**
   * The same key is the same event forever. Give one that is derived from the usage, so that work which is
   * done again is not counted again; a ULID when left out.
   */
  idempotencyKey?: string;
}

/** Why an event can never be counted. Codes of the API, and `invalid_event`, which was never sent. */
export interface EventRejection {
  code: string;
  message: string;
  param?: string;
}

/** Of a request: a single event beyond it cannot be sent. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** The server takes no more in one request. */
export const BATCH_EVENTS_MAX = 500;
const KEY_CHARS_MAX = 255;
/** Goes into JSON as it is. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The event as it is sent, with its key and time; or why it cannot be sent. Never throws. */
export function encodeEvent(event: UsageEvent, nowMs: number): string | EventRejection {
  try {
    const fault = faultOf(event);
    if (fault !== undefined) return { code: 'invalid_event', message: fault };
    // Not one object with all members: to copy it takes longer than all the rest.
    const { value } = event;
    const isText = typeof value === 'string';
    const json = JSON.stringify(isText ? { ...event, value: undefined } : event);
    // An event with a `toJSON` of its own.
    if (!json.startsWith('{"')) return { code: 'invalid_event', message: 'The event is not a JSON object.' };
    const members = json.slice(1);
    const key = event.idempotencyKey === undefined ? `"idempotencyKey":"${ulid(nowMs)}",` : '';
    const time = event.occurredAt === undefined ? `"occurredAt":"${timeText(nowMs)}",` : '';
    return `{${key}${time}${isText ? `"value":${value},` : ''}${members}`;
  } catch (error) {
    const why = error instanceof Error ? error.message : 'what it has throws';
    return { code: 'invalid_event', message: `The event is not JSON: ${why}` };
  }
}

/** Of the payload of an event without a key of its own. */
export const KEY_HEAD = '{"idempotencyKey":"';

/** Of an event and its own payload. */
export function keyOf({ idempotencyKey }: UsageEvent, payload: string): string {
  return idempotencyKey ?? payload.slice(KEY_HEAD.length, KEY_HEAD.length + ULID_CHARS);
}

let textOfMs = -1;
let text = '';

/** Many events have the same. */
function timeText(nowMs: number): string {
  if (nowMs !== textOfMs) {
    textOfMs = nowMs;
    text = new Date(nowMs).toISOString();
  }
  return text;
}

/** What a request with it would be rejected for as a whole, or what JSON would leave out in silence. */
function faultOf({ customerId, meterId, value, occurredAt, idempotencyKey }: UsageEvent): string | undefined {
  if (typeof customerId !== 'string' || customerId === '') return '`customerId` must be a text.';
  if (typeof meterId !== 'string' || meterId === '') return '`meterId` must be a text.';
  const isNumber = typeof value === 'string' ? DECIMAL.test(value) : Number.isFinite(value);
  if (!isNumber) return '`value` must be a finite number, or a decimal as text.';
  if (occurredAt instanceof Date && Number.isNaN(occurredAt.getTime())) return '`occurredAt` is not a date.';
  if (idempotencyKey === undefined) return undefined;
  const isKey = typeof idempotencyKey === 'string' && idempotencyKey !== '';
  return isKey && idempotencyKey.length <= KEY_CHARS_MAX
    ? undefined
    : '`idempotencyKey` must be a text of 1 to 255.';
}

/** The event again, for its owner; undefined where it cannot be read. */
export function decodeEvent(payload: string): { event: UsageEvent } | undefined {
  try {
    const event: unknown = JSON.parse(payload);
    return typeof event === 'object' && event !== null ? { event: event as UsageEvent } : undefined;
  } catch {
    return undefined;
  }
}
