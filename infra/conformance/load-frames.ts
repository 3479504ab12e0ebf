import { createHash } from 'node:crypto';
import { encodeFrame, RECORD_BYTES } from '../../schemas/frame.ts';
import { base32 } from '../../schemas/ids.ts';
import { eventLine, TEST_NOW_MS, type TestEvent } from './event-line.ts';

/** `line` replaces what the event would say of itself. */
export type LoggedEvent = TestEvent & { line?: string };

/** `id` of the event may be any text: its 128 bits are made of it, and the line's `use_…` of those. */
export function frameOf(logId: Uint8Array, events: LoggedEvent[], committedAtMs: number): Uint8Array[] {
  return encodeFrame({
    logId,
    committedAtMs,
    eventCount: events.length,
    touched: [],
    records: events.map(recordOf),
    recheck: [],
    lines: events.map((event) => Buffer.from(event.line ?? eventLine({ ...event, id: eventId(event.id) }))),
  });
}

export function eventId(name: string): string {
  return `use_${base32(idBytes(name))}`;
}

function idBytes(name: string): Buffer {
  return createHash('md5').update(name).digest();
}

function recordOf({ id, occurredAtMs = TEST_NOW_MS, createdAtMs = TEST_NOW_MS }: LoggedEvent): Buffer {
  const record = Buffer.alloc(RECORD_BYTES);
  record.set(idBytes(id));
  record.writeDoubleLE(occurredAtMs, 24);
  record.writeDoubleLE(createdAtMs, 32);
  return record;
}
