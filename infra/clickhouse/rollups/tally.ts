import type { EventRows, Places } from './event-rows.ts';

/** What rows of the rollups say of some events. */
export interface Tally {
  events: number;
  /** The row of the first one. */
  first: number;
  /**
   * Sums of the four words of 32 bits that a value has, lowest first: as doubles they hold two million of
   * them, and cost a tenth of sums of BigInts.
   */
  sum0: number;
  sum1: number;
  sum2: number;
  sum3: number;
  /** The row with the largest value. */
  largest: number;
  /** The row that came last, in the order of schemas/stored/usage-hourly.ts. */
  latest: number;
  /** Some event has no order of arrival: it is of another than a `latest` meter, or of an early release. */
  isUnordered: boolean;
  /** What a `unique` meter counts; undefined while there is nothing. */
  uniques: Set<string> | undefined;
}

/** Of one event. */
export function createTally(events: EventRows, row: number): Tally {
  const sums = { sum0: 0, sum1: 0, sum2: 0, sum3: 0 };
  const rows = { first: row, largest: row, latest: row };
  const tally: Tally = { events: 0, ...rows, ...sums, isUnordered: false, uniques: undefined };
  addEvent(tally, events, row);
  return tally;
}

export function addEvent(tally: Tally, events: EventRows, row: number): void {
  const { values } = events;
  const at = row * 4;
  tally.events += 1;
  tally.sum0 += (values[at] as number) >>> 0;
  tally.sum1 += (values[at + 1] as number) >>> 0;
  tally.sum2 += (values[at + 2] as number) >>> 0;
  tally.sum3 += values[at + 3] as number;
  if (isLarger(values, row, tally.largest)) tally.largest = row;
  if (isLater(events, row, tally.latest)) tally.latest = row;
  const kind = kindOf(events, row);
  if (kind !== ARRIVAL) tally.isUnordered = true;
  if (kind !== COUNTED) return;
  tally.uniques ??= new Set();
  tally.uniques.add(textOf(events, events.uniqueValues, row));
}

/** In units of 10^-12. */
function totalOf({ sum0, sum1, sum2, sum3 }: Tally): bigint {
  return BigInt(sum0) + (BigInt(sum1) << 32n) + (BigInt(sum2) << 64n) + (BigInt(sum3) << 96n);
}

/** What a row adds to the sums of its hour: `total` in units of 10^-12. */
interface Sums {
  total(tally: Tally): bigint;
  events(tally: Tally): bigint;
}

export const ADDED: Sums = { total: totalOf, events: ({ events }) => BigInt(events) };

/** Of voided events. Sums of UInt64 begin again at 0 behind their largest number. */
export const TAKEN_AWAY: Sums = {
  // mutant: voids-added
  total: (tally) => -totalOf(tally),
  events: ({ events }) => BigInt.asUintN(64, BigInt(-events)),
};

export function unitsOf({ values }: EventRows, row: number): bigint {
  let units = BigInt(values[row * 4 + 3] as number);
  for (let word = 2; word >= 0; word--) {
    units = (units << 32n) | BigInt((values[row * 4 + word] as number) >>> 0);
  }
  return units;
}

export function textOf({ bytes }: EventRows, { starts, lengths }: Places, row: number): string {
  const start = starts[row] as number;
  return bytes.toString('utf8', start, start + (lengths[row] as number));
}

/** Of `unique_value`, by its first character (schemas/stored/event-row.ts): `=`, `#`, or 0 of none. */
const COUNTED = 61;
export const ARRIVAL = 35;

function kindOf({ bytes, uniqueValues }: EventRows, row: number): number {
  return uniqueValues.lengths[row] === 0 ? 0 : (bytes[uniqueValues.starts[row] as number] as number);
}

function isLarger(values: Int32Array, row: number, than: number): boolean {
  const highest = (values[row * 4 + 3] as number) - (values[than * 4 + 3] as number);
  if (highest !== 0) return highest > 0;
  for (let word = 2; word >= 0; word--) {
    const one = (values[row * 4 + word] as number) >>> 0;
    const other = (values[than * 4 + word] as number) >>> 0;
    if (one !== other) return one > other;
  }
  return false;
}

function isLater(events: EventRows, row: number, than: number): boolean {
  const { occurredAt, createdAt } = events;
  const occurred = (occurredAt[row] as number) - (occurredAt[than] as number);
  if (occurred !== 0) return occurred > 0;
  const created = (createdAt[row] as number) - (createdAt[than] as number);
  if (created !== 0 || row === than) return created > 0;
  const { uniqueValues, ids } = events;
  // Texts of one length, as they nearly always are, need not be put together.
  if (uniqueValues.lengths[row] === uniqueValues.lengths[than]) {
    return (compareTexts(events, uniqueValues, row, than) || compareTexts(events, ids, row, than)) > 0;
  }
  return Buffer.compare(arrivalOf(events, row), arrivalOf(events, than)) > 0;
}

function compareTexts({ bytes }: EventRows, { starts, lengths }: Places, one: number, other: number): number {
  const endOf = (row: number) => (starts[row] as number) + (lengths[row] as number);
  return bytes.compare(bytes, starts[other], endOf(other), starts[one], endOf(one));
}

/** By which the latest event is found. */
export type EventOrder = readonly [occurredAtMs: number, createdAtMs: number, arrival: string | Uint8Array];

export function orderOf(events: EventRows, row: number): EventOrder {
  return [events.occurredAt[row] as number, events.createdAt[row] as number, arrivalOf(events, row)];
}

/** Compared by its bytes, as ClickHouse does. */
function arrivalOf({ bytes, uniqueValues, ids }: EventRows, row: number): Buffer {
  const parts = [uniqueValues, ids].map(({ starts, lengths }) => {
    const start = starts[row] as number;
    return bytes.subarray(start, start + (lengths[row] as number));
  });
  return Buffer.concat(parts);
}
