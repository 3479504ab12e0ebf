import type { EVENT_COLUMNS } from '../../../schemas/stored/event-row.ts';
import type { RowBlock } from '../../ports/warehouse.ts';
import { type NativeColumn, nativeBlock, nativeColumn } from '../native/native-block.ts';
import {
  DATE_TIME_MS,
  DECIMAL,
  LOW_CARDINALITY_STRING,
  mapOf,
  type NativeType,
  STRING,
  UINT64,
} from '../native/native-types.ts';
import { type EventFields, readEventLines } from './event-fields.ts';

/**
 * The lines as columns of `events`, in the order in which the table keeps them. Undefined when a line cannot
 * be read. It reads all that the ingest tier writes, and takes ten times as long as the WebAssembly, whose
 * bytes are the same.
 */
export function plainColumns(lines: Buffer): RowBlock | undefined {
  const events = readEventLines(lines);
  return events && columnsOf(events);
}

const HOUR_MS = 3_600_000;

function columnsOf(events: EventFields[]): RowBlock {
  // mutant: columns-in-any-order
  const sorted = inOrder(events);
  function column<T>(
    name: (typeof EVENT_COLUMNS)[number],
    type: NativeType<T>,
    fieldOf: (event: EventFields) => T,
  ): NativeColumn {
    return nativeColumn(name, type, sorted.map(fieldOf));
  }
  return nativeBlock([
    column('environment', LOW_CARDINALITY_STRING, ({ environment }) => environment),
    column('customer_id', STRING, ({ customerId }) => customerId),
    column('meter_key', LOW_CARDINALITY_STRING, ({ meterKey }) => meterKey),
    column('id', STRING, ({ id }) => id),
    column('fingerprint', UINT64, ({ fingerprint }) => fingerprint),
    column('value', DECIMAL, ({ value }) => value),
    column('unique_value', STRING, ({ uniqueValue }) => uniqueValue),
    column('properties', PROPERTIES, ({ properties }) => properties),
    column('occurred_at', DATE_TIME_MS, ({ occurredAtMs }) => occurredAtMs),
    column('created_at', DATE_TIME_MS, ({ createdAtMs }) => createdAtMs),
  ]);
}

const PROPERTIES = mapOf(STRING, STRING);

/**
 * By the table's key: ClickHouse sorts what is not sorted, which costs half of what the insert costs. Of two
 * events with one key the first one stays first, so that a block that is read again has the same bytes.
 */
function inOrder(events: EventFields[]): EventFields[] {
  const keyed = events.map((event) => ({
    event,
    texts: [event.environment, event.customerId, event.meterKey].map((text) => Buffer.from(text)),
    hour: Math.floor(event.occurredAtMs / HOUR_MS),
    id: Buffer.from(event.id),
  }));
  keyed.sort((a, b) => {
    const differing = a.texts.findIndex((text, at) => !text.equals(b.texts[at] ?? text));
    if (differing >= 0) return Buffer.compare(a.texts[differing] ?? a.id, b.texts[differing] ?? b.id);
    return a.hour - b.hour || Buffer.compare(a.id, b.id);
  });
  return keyed.map(({ event }) => event);
}
