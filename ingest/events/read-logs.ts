import type { Rejection } from '../../schemas/error-codes.ts';
import { timestampText } from '../../schemas/primitives/timestamp.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import { invalid } from '../engine/js/json-scalars.ts';
import { isObject, markedNumber, parseWhole } from '../engine/js/parse.ts';
import { type CloudEvent, readCloudEvent } from './cloud-event.ts';
import { plainAttributes, plainValue } from './otlp-values.ts';
import type { SentEvents } from './sent-events.ts';

/** A log record that is an event: it has a name. */
interface NamedRecord {
  type: string;
  record: Record<string, unknown>;
  attributes: Record<string, unknown>;
  /** Of what sent it. */
  resource: Record<string, unknown>;
}

/**
 * The log records of an OTLP export (JSON) that are events. Those that no meter listens to may lack what a
 * usage event needs: they are ordinary logs.
 */
export function readLogs(body: Buffer): SentEvents | { rejection: Rejection } {
  const parsed = parseWhole(body);
  if ('rejection' in parsed) return parsed;
  const records = isObject(parsed.value) ? recordsIn(parsed.value) : undefined;
  if (!records) return { rejection: invalid('Send an ExportLogsServiceRequest of OTLP as JSON.') };
  if (records.length > USAGE_LIMITS.foreignEventsMax) return { rejection: TOO_MANY };
  return {
    types: new Set(records.map(({ type }) => type)),
    isBatch: true,
    eventsFor(listeners) {
      const counted = records.filter(({ type }) => listeners.has(type));
      const events = counted.map(cloudEventOf);
      const isValid = events.every((event) => 'type' in event);
      return { events, isValid, others: records.length - counted.length };
    },
  };
}

const TOO_MANY: Rejection = {
  code: 'batch_too_large',
  message: `An export holds at most ${USAGE_LIMITS.foreignEventsMax} events; nothing was stored.`,
};

function recordsIn({ resourceLogs }: Record<string, unknown>): NamedRecord[] | undefined {
  if (!Array.isArray(resourceLogs) || !resourceLogs.every(isObject)) return undefined;
  return objectsIn(resourceLogs).flatMap(({ resource, scopeLogs }) => {
    const ofResource = isObject(resource) ? plainAttributes(resource.attributes) : {};
    return objectsIn(scopeLogs).flatMap(({ logRecords }) =>
      objectsIn(logRecords).flatMap((record) => namedRecord(record, ofResource)),
    );
  });
}

function namedRecord(record: Record<string, unknown>, resource: Record<string, unknown>): NamedRecord[] {
  const attributes = plainAttributes(record.attributes);
  const type = record.eventName || attributes['event.name'];
  return typeof type === 'string' && type !== '' ? [{ type, record, attributes, resource }] : [];
}

/** What identifies it and whose it is are attributes, of the record or else of its resource. */
function cloudEventOf({ type, record, attributes, resource }: NamedRecord): CloudEvent | Rejection {
  const all = { ...resource, ...attributes };
  const id = all['log.record.uid'];
  const subject = all['metergate.customer'] ?? all['user.id'];
  if (typeof id !== 'string')
    return invalid('The attribute `log.record.uid` must be a text.', 'log.record.uid');
  if (typeof subject !== 'string')
    return invalid('The attribute `metergate.customer` must be a text.', 'metergate.customer');
  const source = resource['service.name'] ?? 'unknown_service';
  const time = timeOf(record);
  if (typeof time === 'object') return time;
  const data = { ...attributes, body: plainValue(record.body), resource };
  return readCloudEvent({ specversion: '1.0', id, source, type, subject, time, data });
}

/** Undefined: not known, so it is now. One that cannot be read may be in another period: it is rejected. */
function timeOf(record: Record<string, unknown>): string | undefined | Rejection {
  for (const name of ['timeUnixNano', 'observedTimeUnixNano']) {
    const nanos = nanosOf(record[name]);
    if (nanos === undefined) return invalid(`\`${name}\` must be nanoseconds since 1970, as a text.`, name);
    if (nanos > 0n) return timestampText(Number(nanos / 1_000_000n));
  }
  return undefined;
}

/** Of a text or a number; 0: left out. Undefined: it is none. */
function nanosOf(value: unknown): bigint | undefined {
  const text = typeof value === 'string' ? (markedNumber(value) ?? value) : String(value ?? '');
  return /^\d{0,19}$/.test(text) ? BigInt(text) : undefined;
}

function objectsIn(value: unknown): Array<Record<string, unknown>> {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
