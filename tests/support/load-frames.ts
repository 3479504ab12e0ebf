import { createHash } from 'node:crypto';
import { base32 } from '../../schemas/primitives/ids.ts';
import { partitionOf } from '../../schemas/primitives/partition-of.ts';
import { encodeFrame, type TouchedSpan } from '../../schemas/stored/frame.ts';
import { ID_BYTES, writeRecord } from '../../schemas/stored/record.ts';
import { eventLine, TEST_NOW_MS, type TestEvent } from './event-line.ts';

/** `line` replaces what the event would say of itself. */
export type LoggedEvent = TestEvent & { line?: string };

/** `id` of the event may be any text: its 128 bits are made of it, and the line's `use_…` of those. */
export function frameOf(
  logId: Uint8Array,
  events: LoggedEvent[],
  committedAtMs: number,
  recheck: number[] = [],
): Uint8Array[] {
  return encodeFrame({
    logId,
    committedAtMs,
    eventCount: events.length,
    touched: touchedBy(events),
    records: events.map(recordOf),
    recheck,
    lines: events.map((event) => Buffer.from(event.line ?? eventLine({ ...event, id: eventId(event.id) }))),
  });
}

/** As the ingest tier records them: each (customer, meter) once, with the span of its events' times. */
function touchedBy(events: LoggedEvent[]): TouchedSpan[] {
  const spans = new Map<string, TouchedSpan>();
  for (const { environment = 'ws_a:live', customerId = 'cus_a', meterKey = 'calls', ...event } of events) {
    const { occurredAtMs = TEST_NOW_MS } = event;
    const pair = [environment, customerId, meterKey].map((text) => JSON.stringify(text)).join(',');
    const before = spans.get(pair);
    spans.set(pair, {
      pair,
      occurredFromMs: Math.min(occurredAtMs, before?.occurredFromMs ?? occurredAtMs),
      occurredToMs: Math.max(occurredAtMs, before?.occurredToMs ?? occurredAtMs),
    });
  }
  return [...spans.values()];
}

export function eventId(name: string): string {
  return `use_${base32(idBytes(name))}`;
}

/** In which partition the ingest tier puts it. */
export function partitionOfEvent(name: string, partitions: number): number {
  return partitionOf(idBytes(name).readUInt32LE(ID_BYTES - 4), partitions);
}

function idBytes(name: string): Buffer {
  return createHash('md5').update(name).digest();
}

function recordOf({ id, occurredAtMs = TEST_NOW_MS, createdAtMs = TEST_NOW_MS }: LoggedEvent): Buffer {
  return writeRecord({ id: idBytes(id), occurredAtMs, createdAtMs });
}
