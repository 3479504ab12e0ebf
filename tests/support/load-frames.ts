import { createHash } from 'node:crypto';
import { base32, fromBase32 } from '../../schemas/primitives/ids.ts';
import { partitionOf } from '../../schemas/primitives/partition-of.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { encodeFrame, type TouchedSpan } from '../../schemas/stored/frame.ts';
import { ID_BYTES, writeRecord } from '../../schemas/stored/record.ts';
import { voidedText } from '../../schemas/stored/row-lines.ts';
import { changeText } from '../../schemas/stored/touched-rows.ts';
import { voidId } from '../../schemas/stored/void-ids.ts';
import { shortLine, TEST_NOW_MS, type TestEvent } from './event-line.ts';

/**
 * `line` replaces the short line that the ingest tier would write of it. A void of `change` is given as the
 * event that it takes away.
 */
export type LoggedEvent = TestEvent & { line?: string; change?: ChangeRows };

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
    lines: events.map((event) => Buffer.from(event.line ?? lineOf(event))),
  });
}

function lineOf(event: LoggedEvent): string {
  return (event.change?.voids ? voidedText(eventId(event.id)) : '') + shortLine(event);
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

function pairOf({
  environment = 'ws_a:live',
  customerId = 'cus_a',
  meterKey = 'calls',
  change,
}: LoggedEvent): string {
  const names = [environment, customerId, meterKey].map((text) => JSON.stringify(text));
  return names.join(',') + changeText(change);
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

export function recordOf({
  id,
  occurredAtMs = TEST_NOW_MS,
  createdAtMs = TEST_NOW_MS,
  change,
}: LoggedEvent): Buffer {
  const own = change?.voids ? voidId(change.number, eventId(id)) : idBytes(id);
  return writeRecord({ id: own, fingerprint: FINGERPRINT, occurredAtMs, createdAtMs });
}
