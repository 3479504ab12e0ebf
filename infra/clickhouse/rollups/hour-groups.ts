import type { EventRows } from './event-rows.ts';

/** Events of one hour of one meter of one customer: rows that follow each other, [from, to). */
export interface HourGroup {
  from: number;
  to: number;
  /** Its beginning, seconds since 1970. */
  hour: number;
}

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;

export function hourGroups(events: EventRows): HourGroup[] {
  const { rows, occurredAt } = events;
  const groups: HourGroup[] = [];
  let from = 0;
  let hour = Math.floor((occurredAt[0] as number) / HOUR_MS);
  for (let row = 1; row < rows; row++) {
    const next = Math.floor((occurredAt[row] as number) / HOUR_MS);
    if (next === hour && isOfOne(events, row)) continue;
    groups.push({ from, to: row, hour: hour * HOUR_SECONDS });
    from = row;
    hour = next;
  }
  if (rows > 0) groups.push({ from, to: rows, hour: hour * HOUR_SECONDS });
  return groups;
}

/** Whether a row has the environment, customer and meter of the one before. */
function isOfOne({ bytes, environments, meters, customers }: EventRows, row: number): boolean {
  if (meters.indexes[row] !== meters.indexes[row - 1]) return false;
  if (environments.indexes[row] !== environments.indexes[row - 1]) return false;
  const length = customers.lengths[row] as number;
  if (length !== customers.lengths[row - 1]) return false;
  // From the end: ids differ there. A call of Buffer's costs more than these few bytes.
  const before = customers.starts[row - 1] as number;
  const start = customers.starts[row] as number;
  for (let at = length - 1; at >= 0; at--) if (bytes[start + at] !== bytes[before + at]) return false;
  return true;
}
