import { isUtf8 } from 'node:buffer';
import { decimalUnits, FRACTION_DIGITS_MAX } from '../../../schemas/primitives/decimal.ts';

/** A usage event as its line has it (schemas/stored/event-row.ts), in the types of the columns. */
export interface EventFields {
  environment: string;
  customerId: string;
  meterKey: string;
  id: string;
  fingerprint: bigint;
  /** Units of 10^-12. */
  value: bigint;
  uniqueValue: string;
  /** In their order on the line. */
  properties: Array<readonly [name: string, value: string]>;
  occurredAtMs: number;
  createdAtMs: number;
}

const TEXT = String.raw`"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"`;
/** Of a Decimal(38, 12): 26 digits before the point. */
const VALUE = String.raw`-?(?:0|[1-9]\d{0,25})(?:\.\d{1,${FRACTION_DIGITS_MAX}})?`;
const FINGERPRINT = String.raw`0|[1-9]\d{0,19}`;
/** A number keeps each of them. */
const TIME_MS = String.raw`0|-?[1-9]\d{0,14}`;
const PROPERTIES = String.raw`\{((?:${TEXT}:${TEXT}(?:,${TEXT}:${TEXT})*)?)\}`;
const LINE = new RegExp(
  String.raw`^\[(${TEXT}),(${TEXT}),(${TEXT}),(${TEXT}),"(${FINGERPRINT})",(${VALUE}),(${TEXT}),` +
    String.raw`${PROPERTIES},(${TIME_MS}),(${TIME_MS})\]$`,
);
const TEXTS = new RegExp(TEXT, 'g');
const FINGERPRINT_MAX = 2n ** 64n - 1n;

/**
 * Reads whole lines. Undefined when one of them has another form than the ingest tier writes, or says what
 * the warehouse rejects: it decides then.
 */
export function readEventLines(lines: Buffer): EventFields[] | undefined {
  if (!isUtf8(lines) || lines.at(-1) !== LINE_FEED) return undefined;
  const events: EventFields[] = [];
  for (const line of lines.toString('utf8', 0, lines.length - 1).split('\n')) {
    const event = readEventLine(line);
    if (!event) return undefined;
    events.push(event);
  }
  return events;
}

const LINE_FEED = 10;

function readEventLine(line: string): EventFields | undefined {
  const match = LINE.exec(line)?.slice(1);
  if (!match) return undefined;
  const [environment, customerId, meterKey, id, uniqueValue] = [0, 1, 2, 3, 6].map((at) => textOf(match[at]));
  const [fingerprint, value] = [BigInt(match[4] ?? ''), decimalUnits(match[5] ?? '')];
  const properties = propertiesOf(match[7] ?? '');
  const texts = { environment, customerId, meterKey, id, uniqueValue };
  if (!areAll(texts) || !properties || fingerprint > FINGERPRINT_MAX) return undefined;
  const times = { occurredAtMs: Number(match[8]), createdAtMs: Number(match[9]) };
  return { ...texts, fingerprint, value, properties, ...times };
}

function propertiesOf(json: string): EventFields['properties'] | undefined {
  const texts = (json.match(TEXTS) ?? []).map(textOf);
  const properties: EventFields['properties'] = [];
  for (let at = 0; at < texts.length; at += 2) {
    const [name, value] = [texts[at], texts[at + 1]];
    if (name === undefined || value === undefined) return undefined;
    properties.push([name, value]);
  }
  return properties;
}

/** Undefined for half of a surrogate pair, which is no character. */
function textOf(json = '""'): string | undefined {
  const text: string = json.includes('\\') ? JSON.parse(json) : json.slice(1, -1);
  return text.isWellFormed() ? text : undefined;
}

function areAll<Name extends string>(texts: Record<Name, string | undefined>): texts is Record<Name, string> {
  return Object.values(texts).every((text) => text !== undefined);
}
