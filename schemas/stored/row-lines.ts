import { Fatal } from '../failures.ts';
import { canonicalDecimal } from '../primitives/decimal.ts';
import { writeBase32 } from '../primitives/ids.ts';
import { type Frame, NUMBER_BYTES, type TouchedCustomerMeter } from './frame.ts';
import { fingerprintOf, idByte, readTimes } from './record.ts';
import { EVENT_ID_CHARS } from './void-ids.ts';

/**
 * A short line is the middle of a row (EVENT_COLUMNS of event-row.ts): value, unique value and properties,
 * ended by a line feed. Names, id and fingerprint in front of it and the times behind it are in `touched` and
 * in the event's record. The line of a void has the id of the voided event in front, `"use_…",`, which its
 * row has in place of the void's own.
 */
const LINE_FEED = 10;
const COMMA = 44;
/** A quote, `use_`. */
const ID_BEGINS_AT = 5;
/** The id with its quotes and the comma. */
const VOIDED_BYTES = EVENT_ID_CHARS + 3;
/** Of a row, without names and middle: id 26, fingerprint 20, times 17 each, what is between them. */
const REST_BYTES_MAX = 128;
/** What a row of ordinary names has more than its short line. */
export const ROW_MORE_BYTES = 200;

/** The events of a frame as whole rows, each ended by a line feed. Throws Fatal `line_unreadable`. */
export function rowLines(frame: Frame): Buffer {
  const { lines, records, numbers, eventCount, touched } = frame;
  if (!numbers) return lines;
  const heads = touched.map(headOf);
  const rows = Buffer.allocUnsafe(lines.length + moreBytesMax(numbers, heads));
  let [from, to] = [0, 0];
  for (let event = 0; event < eventCount; event++) {
    const end = lines.indexOf(LINE_FEED, from);
    const number = numbers.readUInt16LE(event * NUMBER_BYTES);
    const head = heads[number];
    if (end < 0 || !head) throw unreadable();
    const begins = from + beginOf(touched[number]);
    if (begins > end) throw unreadable();
    to += head.copy(rows, to);
    // mutant: void-with-its-own-id
    if (begins > from) to += lines.copy(rows, to, from + ID_BEGINS_AT, from + EVENT_ID_CHARS + 1);
    else to = writeBase32(records, idByte(event), rows, to);
    to += rows.write(`","${fingerprintOf(records, event)}",`, to, 'latin1');
    to += lines.copy(rows, to, begins, end);
    const { occurredAtMs, createdAtMs } = readTimes(records, event);
    to += rows.write(`,${occurredAtMs},${createdAtMs}]\n`, to, 'latin1');
    from = end + 1;
  }
  if (from !== lines.length) throw unreadable();
  return rows.subarray(0, to);
}

/** Where the value of a line of these begins. */
function beginOf(touched: TouchedCustomerMeter | undefined): number {
  return touched?.change?.voids ? VOIDED_BYTES : 0;
}

/** In front of the line of a void. */
export function voidedText(eventId: string): string {
  return `"${eventId}",`;
}

/** The beginning of a row. */
export interface RowHead {
  environment: string;
  customerId: string;
  meterKey: string;
  /** A decimal's text, as {@link canonicalDecimal} gives it. */
  value: string;
}

interface EventValue extends RowHead {
  /** Its number in the frame. */
  event: number;
}

/**
 * The values of the events that are to be read, of wanted customers; voids have those of what they take away.
 * Rows are not made. Throws Fatal
 * `line_unreadable`, of an event that is not to be read only where its end is not found.
 */
export function valuesOf(
  frame: Frame,
  { isRead, isWanted }: { isRead: (event: number) => boolean; isWanted: (customerId: string) => boolean },
): EventValue[] {
  const { lines, numbers, eventCount, touched } = frame;
  const wanted = touched.map(({ customerId }) => isWanted(customerId));
  const found: EventValue[] = [];
  for (let [event, from, end] = [0, 0, 0]; event < eventCount; event++, from = end + 1) {
    end = lines.indexOf(LINE_FEED, from);
    if (end < 0) throw unreadable();
    if (!isRead(event)) continue;
    const number = numbers?.readUInt16LE(event * NUMBER_BYTES);
    if (number === undefined) {
      const head = readRow(lines.subarray(from, end));
      if (isWanted(head.customerId)) found.push({ event, ...head });
    } else if (wanted[number] ?? true) {
      const value = readValue(lines, from + beginOf(touched[number]));
      found.push({ event, ...namesOf(touched[number]), value });
    }
  }
  return found;
}

function namesOf(touched: TouchedCustomerMeter | undefined): Omit<RowHead, 'value'> {
  if (!touched) throw unreadable();
  const { environment, customerId, meterKey } = touched;
  return { environment, customerId, meterKey };
}

/** Of the short line that begins here. */
function readValue(lines: Buffer, from: number): string {
  const value = canonicalDecimal(lines.toString('latin1', from, lines.indexOf(COMMA, from)));
  if (value === undefined) throw unreadable();
  return value;
}

const TEXT = '"((?:[^"\\\\]|\\\\.)*)"';
/** environment, customer, meter, id, fingerprint, value: the first columns (event-row.ts). */
const ROW = new RegExp(`^\\[${TEXT},${TEXT},${TEXT},${TEXT},${TEXT},(-?[\\d.eE+-]+),`);

/** Of a whole row. Throws Fatal `line_unreadable`. */
export function readRow(line: Buffer): RowHead {
  const [, environment, customerId, meterKey, , , number] = ROW.exec(line.toString()) ?? [];
  const value = canonicalDecimal(number ?? '');
  if (
    environment === undefined ||
    customerId === undefined ||
    meterKey === undefined ||
    value === undefined
  ) {
    throw unreadable();
  }
  return { environment: text(environment), customerId: text(customerId), meterKey: text(meterKey), value };
}

/** Of a whole row that was put together here; of a void that of the voided event. */
export function readId(line: Buffer): string {
  const [, , , , id] = ROW.exec(line.toString()) ?? [];
  if (id === undefined) throw unreadable();
  return id;
}

function text(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
}

/** Begins the row of each event of these. */
function headOf({ environment, customerId, meterKey }: TouchedCustomerMeter): Buffer {
  const names = [environment, customerId, meterKey].map((name) => JSON.stringify(name));
  return Buffer.from(`[${names.join(',')},"use_`);
}

function moreBytesMax(numbers: Buffer, heads: Buffer[]): number {
  let bytes = 0;
  for (let at = 0; at < numbers.length; at += NUMBER_BYTES) {
    bytes += REST_BYTES_MAX + (heads[numbers.readUInt16LE(at)]?.length ?? 0);
  }
  return bytes;
}

/** Its checksum holds, so it was written so. */
function unreadable(): Fatal {
  return new Fatal('line_unreadable', 'A frame of the log has other lines than this release writes.');
}
