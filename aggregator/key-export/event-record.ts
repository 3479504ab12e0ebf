import { Fatal } from '../../schemas/failures.ts';
import { base32, fromBase32 } from '../../schemas/primitives/ids.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import { writeRecord } from '../../schemas/stored/record.ts';
import { voidId } from '../../schemas/stored/void-ids.ts';

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

/** The id of its record, which its row has not. */
export function idOfVoid(change: number, voidedId: string): string {
  return `${ID_PREFIX}${base32(voidId(change, voidedId))}`;
}

const COLUMN = Object.fromEntries(EVENT_COLUMNS.map((name, at) => [name, at])) as Record<
  (typeof EVENT_COLUMNS)[number],
  number
>;

/**
 * Of a line that ClickHouse could not read: JSON it is all the same. One of a void has the number of its
 * change behind its columns ({@link quarantinedLine}). Throws Fatal `event_unreadable`.
 */
export function lineRecord(line: Buffer): Buffer {
  const columns = parseArray(line.toString());
  const [id, change] = [String(columns[COLUMN.id]), columns[EVENT_COLUMNS.length]];
  return eventRecord({
    id: change === undefined ? id : idOfVoid(Number(change), id),
    fingerprint: String(columns[COLUMN.fingerprint]),
    occurredAtMs: Number(columns[COLUMN.occurred_at]),
    createdAtMs: Number(columns[COLUMN.created_at]),
  });
}

/** As a rejected line is kept: with the number of its change where it is a void. */
export function quarantinedLine(line: Buffer, change: ChangeRows | undefined): Buffer {
  if (!change?.voids) return line;
  return Buffer.from(line.toString('latin1').replace(/\]\n?$/, `,${change.number}]\n`), 'latin1');
}

function parseArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
