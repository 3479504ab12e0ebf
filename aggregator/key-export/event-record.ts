import { Fatal } from '../../schemas/failures.ts';
import { fromBase32 } from '../../schemas/primitives/ids.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import { writeRecord } from '../../schemas/stored/record.ts';

/** What the key table has to know of an event. */
export interface RecordedEvent {
  /** `use_…`. */
  id: string;
  /** Decimal text. */
  fingerprint: string;
  occurredAtMs: number;
  createdAtMs: number;
}

const ID_PREFIX = 'use_';

/** The record (schemas/stored/record.ts) as the log had it. Throws Fatal `event_unreadable` for no event. */
export function eventRecord({ id, fingerprint, occurredAtMs, createdAtMs }: RecordedEvent): Buffer {
  const idBytes = id.startsWith(ID_PREFIX) ? fromBase32(id.slice(ID_PREFIX.length)) : undefined;
  if (!idBytes || !/^\d{1,20}$/.test(fingerprint)) {
    throw new Fatal('event_unreadable', `The stored event ${id} is none that this release makes.`);
  }
  return writeRecord({ id: idBytes, fingerprint: BigInt(fingerprint), occurredAtMs, createdAtMs });
}

const COLUMN = Object.fromEntries(EVENT_COLUMNS.map((name, at) => [name, at])) as Record<
  (typeof EVENT_COLUMNS)[number],
  number
>;

/** Of a line that ClickHouse could not read: JSON it is all the same. Throws Fatal `event_unreadable`. */
export function lineRecord(line: Buffer): Buffer {
  const columns = parseArray(line.toString());
  return eventRecord({
    id: String(columns[COLUMN.id]),
    fingerprint: String(columns[COLUMN.fingerprint]),
    occurredAtMs: Number(columns[COLUMN.occurred_at]),
    createdAtMs: Number(columns[COLUMN.created_at]),
  });
}

function parseArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
