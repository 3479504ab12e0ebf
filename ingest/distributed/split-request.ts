import type { Identified } from '../../infra/ports/engine.ts';
import { partitionOf } from '../../schemas/primitives/partition-of.ts';
import { lastIdWord } from '../../schemas/stored/record.ts';

/** The items of a request that belong to one partition, in its order. */
export interface RequestPart {
  partition: number;
  items: number[];
  /** Of their lines. */
  bytes: number;
}

export function splitRequest(
  { count, records, lineEnds }: Identified,
  partitions: number,
  isDecided: (item: number) => boolean,
): RequestPart[] {
  const parts = new Map<number, RequestPart>();
  for (let item = 0; item < count; item++) {
    if (isDecided(item)) continue;
    const partition = partitionOf(lastIdWord(records, item), partitions);
    let part = parts.get(partition);
    if (!part) {
      part = { partition, items: [], bytes: 0 };
      parts.set(partition, part);
    }
    part.items.push(item);
    part.bytes += (lineEnds[item] ?? 0) - (item === 0 ? 0 : (lineEnds[item - 1] ?? 0));
  }
  return [...parts.values()];
}
