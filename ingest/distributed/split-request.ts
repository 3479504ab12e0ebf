import type { Identified } from '../../infra/ports/engine.ts';
import { partitionOf } from '../../schemas/primitives/partition-of.ts';
import { NUMBER_BYTES } from '../../schemas/stored/frame.ts';
import { lastIdWord, RECORD_BYTES } from '../../schemas/stored/record.ts';

/** The items of a request that belong to one partition, in its order. */
export interface RequestPart {
  partition: number;
  items: number[];
  /** What they take of a frame, at most. */
  bytes: number;
}

/** Of an event without its line: record, number and index for the re-check. */
const EVENT_BYTES = RECORD_BYTES + NUMBER_BYTES + 4;
/** Of a customer and meter without their names: brackets and two times. */
const SPAN_BYTES = 40;

export function splitRequest(
  { count, records, lineEnds, customerMeters, customerMeterOf }: Identified,
  partitions: number,
  isDecided: (item: number) => boolean,
): RequestPart[] {
  const parts = new Map<number, RequestPart & { touched: Set<number> }>();
  for (let item = 0; item < count; item++) {
    if (isDecided(item)) continue;
    const partition = partitionOf(lastIdWord(records, item), partitions);
    let part = parts.get(partition);
    if (!part) {
      part = { partition, items: [], bytes: 0, touched: new Set() };
      parts.set(partition, part);
    }
    part.items.push(item);
    part.bytes += EVENT_BYTES + (lineEnds[item] ?? 0) - (item === 0 ? 0 : (lineEnds[item - 1] ?? 0));
    const customerMeter = customerMeterOf[item] ?? 0;
    if (part.touched.has(customerMeter)) continue;
    part.touched.add(customerMeter);
    // mutant: round-bounded-without-names
    part.bytes += SPAN_BYTES + Buffer.byteLength(customerMeters[customerMeter] ?? '');
  }
  return Array.from(parts.values(), ({ touched: _, ...part }) => part);
}
