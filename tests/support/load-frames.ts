import { createHash } from 'node:crypto';
import { base32, fromBase32 } from '../../schemas/primitives/ids.ts';
import { partitionOf } from '../../schemas/primitives/partition-of.ts';
import { encodeFrame, type TouchedSpan } from '../../schemas/stored/frame.ts';
import { ID_BYTES, writeRecord } from '../../schemas/stored/record.ts';
import { shortLine, TEST_NOW_MS, type TestEvent } from './event-line.ts';

/** `line` replaces the short line that the ingest tier would write of it. */
export type LoggedEvent = TestEvent & { line?: string };

/** `id` of the event may be any text: its 128 bits are made of it, unless it is one of an event. */
export function frameOf(
  logId: Uint8Array,
  events: LoggedEvent[],
  committedAtMs: number,
  recheck: number[] = [],
): Uint8Array[] {
  const touched = touchedBy(events);
  const pairs = touched.map(({ pair }) => pair);
  return encodeFrame({
    logId,
    committedAtMs,
    eventCount: events.length,
    touched,
    records: events.map(recordOf),
    numbers: Uint16Array.from(events, (event) => pairs.indexOf(pairOf(event))),
    recheck,
    lines: events.map((event) => Buffer.from(event.line ?? shortLine(event))),
  });
}

/** As the ingest tier records them: each (customer, meter) once, with the span of its events' times. */
export function touchedBy(events: LoggedEvent[]): TouchedSpan[] {
  const spans = new Map<string, TouchedSpan>();
  for (const event of events) {
    const { occurredAtMs = TEST_NOW_MS } = event;
    const pair = pairOf(event);
    const before = spans.get(pair);
    spans.set(pair, {
      pair,
      occurredFromMs: Math.min(occurredAtMs, before?.occurredFromMs ?? occurredAtMs),
      occurredToMs: Math.max(occurredAtMs, before?.occurredToMs ?? occurredAtMs),
    });
  }
  return [...spans.values()];
}

function pairOf({ environment = 'ws_a:live', customerId = 'cus_a', meterKey = 'calls' }: TestEvent): string {
  return [environment, customerId, meterKey].map((text) => JSON.stringify(text)).join(',');
}

export function eventId(name: string): string {
  return `use_${base32(idBytes(name))}`;
}

/** In which partition the ingest tier puts it. */
export function partitionOfEvent(name: string, partitions: number): number {
  return partitionOf(Buffer.from(idBytes(name)).readUInt32LE(ID_BYTES - 4), partitions);
}

function idBytes(name: string): Uint8Array {
  const own = name.startsWith('use_') ? fromBase32(name.slice(4)) : undefined;
  return own ?? createHash('md5').update(name).digest();
}

/** That of an event's row in tests. */
const FINGERPRINT = 2n ** 64n - 1n;

export function recordOf({ id, occurredAtMs = TEST_NOW_MS, createdAtMs = TEST_NOW_MS }: LoggedEvent): Buffer {
  return writeRecord({ id: idBytes(id), fingerprint: FINGERPRINT, occurredAtMs, createdAtMs });
}
