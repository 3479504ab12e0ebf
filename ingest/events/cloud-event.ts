import type { RequestHeaders } from '../../infra/ports/http-front.ts';
import type { Rejection } from '../../schemas/error-codes.ts';
import { timestampMs } from '../../schemas/primitives/timestamp.ts';
import { TIMESTAMP_FORM } from '../../schemas/primitives/timestamp-fault.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid } from '../engine/js/json-scalars.ts';
import { isObject } from '../engine/js/parse.ts';

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
const SUBJECT_CHARS_MAX = USAGE_LIMITS.idCharsMax;
const TIME_CHARS_MAX = 64;

/**
 * A CloudEvent in the JSON format. Attributes of extensions are allowed and mean nothing here. What cannot be
 * stored of a text, the engine rejects.
 */
export function readCloudEvent(raw: unknown): CloudEvent | Rejection {
  if (!isObject(raw)) return invalid('Each event must be a JSON object.');
  const { specversion, id, source, type, subject, time, data, data_base64: binary } = raw;
  if (specversion !== '1.0') return invalid('`specversion` must be "1.0".', 'specversion');
  if (!isText(id, TEXT_CHARS_MAX)) return textFault('id', id, TEXT_CHARS_MAX);
  if (!isText(source, TEXT_CHARS_MAX)) return textFault('source', source, TEXT_CHARS_MAX);
  if (!isText(type, TYPE_CHARS_MAX)) return textFault('type', type, TYPE_CHARS_MAX);
  if (!isText(subject, SUBJECT_CHARS_MAX)) return textFault('subject', subject, SUBJECT_CHARS_MAX);
  const hasTime = time !== undefined && time !== null;
  if (hasTime && !(isText(time, TIME_CHARS_MAX) && timestampMs(time) !== undefined))
    return invalid(`\`time\` must be a text; the right form is ${TIMESTAMP_FORM}.`, 'time');
  if (binary !== undefined && binary !== null)
    return invalid('`data_base64` cannot be counted. Send the data as JSON in `data`.', 'data_base64');
  return { id, source, type, subject, time: hasTime ? time : undefined, data };
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

/** No text that begins with U+0000 is one: numbers are marked so. */
function isText(value: unknown, charsMax: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= charsMax && value.charCodeAt(0) !== 0;
}

function textFault(name: string, value: unknown, charsMax: number): Rejection {
  const isLong = typeof value === 'string' && value.length > charsMax;
  return invalid(
    isLong ? `\`${name}\` has at most ${charsMax} characters.` : `\`${name}\` must be a non-empty string.`,
    name,
  );
}
