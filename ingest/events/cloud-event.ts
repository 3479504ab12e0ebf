import type { RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid, isUnstorable } from '../engine/js/json-scalars.ts';
import { isObject, markedNumber } from '../engine/js/parse.ts';

/** What of a CloudEvent counts. Numbers in `data` are as ingest/engine/js/parse.ts reads them. */
export interface CloudEvent {
  id: string;
  source: string;
  type: string;
  /** The customer: an id or the caller's own external id. */
  subject: string;
  /** As sent; undefined: now. */
  time: string | undefined;
  data: unknown;
}

const TEXT_CHARS_MAX = 1024;
const TYPE_CHARS_MAX = 256;
const TIME_CHARS_MAX = 64;

/** A CloudEvent in the JSON format. Attributes of extensions are allowed and mean nothing here. */
export function readCloudEvent(raw: unknown): CloudEvent | Rejection {
  if (!isObject(raw)) return invalid('Each event must be a JSON object.');
  const { specversion, time, data } = raw;
  if (specversion !== '1.0') return invalid('`specversion` must be "1.0".', 'specversion');
  const fault =
    textFault(raw, 'id', TEXT_CHARS_MAX) ??
    textFault(raw, 'source', TEXT_CHARS_MAX) ??
    textFault(raw, 'type', TYPE_CHARS_MAX) ??
    textFault(raw, 'subject', USAGE_LIMITS.idCharsMax);
  if (fault) return fault;
  const hasTime = time !== undefined && time !== null;
  if (hasTime && !isTime(time)) return invalid('`time` must be an RFC 3339 timestamp.', 'time');
  if (raw.data_base64 !== undefined && raw.data_base64 !== null)
    return invalid('`data_base64` cannot be counted. Send the data as JSON in `data`.', 'data_base64');
  const { id, source, type, subject } = raw as Record<string, string>; // texts, see above
  return { ...({ id, source, type, subject } as CloudEvent), time: hasTime ? time : undefined, data };
}

const ATTRIBUTES = ['specversion', 'id', 'source', 'type', 'subject', 'time'] as const;

/** A CloudEvent in binary mode: attributes as headers, percent-encoded beyond visible ASCII. */
export function withHeaderAttributes(headers: RequestHeaders, data: unknown): Record<string, unknown> {
  const attributes = ATTRIBUTES.map((name) => [name, decoded(headers.get(`ce-${name}`))]);
  return { ...Object.fromEntries(attributes), data };
}

function decoded(value: string | undefined): string | undefined {
  if (value === undefined || !value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // a percent sign of its own
  }
}

function textFault(raw: Record<string, unknown>, name: string, charsMax: number): Rejection | undefined {
  const value = raw[name];
  if (typeof value !== 'string' || value === '' || markedNumber(value) !== undefined)
    return invalid(`\`${name}\` must be a non-empty string.`, name);
  if (value.length > charsMax) return invalid(`\`${name}\` has at most ${charsMax} characters.`, name);
  return isUnstorable(value)
    ? invalid(`\`${name}\` holds U+0000 or half a surrogate pair.`, name)
    : undefined;
}

function isTime(time: unknown): time is string {
  return typeof time === 'string' && time.length <= TIME_CHARS_MAX && markedNumber(time) === undefined;
}
