import { Fatal } from '../failures.ts';
import { writeBase32 } from '../primitives/ids.ts';
import { type Frame, NUMBER_BYTES, type TouchedCustomerMeter } from './frame.ts';
import { fingerprintOf, idByte, readTimes } from './record.ts';

/**
 * A short line is the middle of a row (EVENT_COLUMNS of event-row.ts): value, unique value and properties,
 * ended by a line feed. Names, id and fingerprint in front of it and the times behind it are in `touched` and
 * in the event's record.
 */
const LINE_FEED = 10;
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
    const head = heads[numbers.readUInt16LE(event * NUMBER_BYTES)];
    if (end < 0 || !head) throw unreadable();
    to += head.copy(rows, to);
    to = writeBase32(records, idByte(event), rows, to);
    to += rows.write(`","${fingerprintOf(records, event)}",`, to, 'latin1');
    to += lines.copy(rows, to, from, end);
    const { occurredAtMs, createdAtMs } = readTimes(records, event);
    to += rows.write(`,${occurredAtMs},${createdAtMs}]\n`, to, 'latin1');
    from = end + 1;
  }
  if (from !== lines.length) throw unreadable();
  return rows.subarray(0, to);
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
