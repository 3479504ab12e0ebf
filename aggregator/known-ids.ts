import type { Warehouse } from '../infra/ports/warehouse.ts';
import { RECORD_BYTES } from '../schemas/frame.ts';
import { base32 } from '../schemas/ids.ts';
import type { Block } from './block.ts';
import { storedIds } from './store/event-ids.ts';

const ID_BYTES = 16;

/**
 * Numbers of the lines to leave out: those that were seen before, and of the flagged ones those whose event
 * is stored. Everything of the partition before this block is stored by now, so that nothing is missed
 * between.
 */
export async function withKnownIds(
  warehouse: Pick<Warehouse, 'query'>,
  block: Block,
  seen: readonly number[],
): Promise<number[]> {
  const flagged = flaggedIds(block);
  if (flagged.size === 0) return [...seen];
  const known = new Set(seen);
  const asked = [...flagged].filter(([number]) => !known.has(number));
  const stored = await storedIds(
    warehouse,
    asked.map(([, id]) => id),
  );
  for (const [number, id] of asked) if (stored.has(id)) known.add(number);
  return [...known].sort((a, b) => a - b);
}

/** Ids of flagged events by their number in the block. */
function flaggedIds({ frames }: Block): Map<number, string> {
  const flagged = new Map<number, string>();
  let first = 0;
  for (const { records, recheck, eventCount } of frames) {
    for (const event of recheck) {
      const at = event * RECORD_BYTES;
      flagged.set(first + event, `use_${base32(records.subarray(at, at + ID_BYTES))}`);
    }
    first += eventCount;
  }
  return flagged;
}
