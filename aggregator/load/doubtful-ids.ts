import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { base32 } from '../../schemas/primitives/ids.ts';
import { idOf } from '../../schemas/stored/record.ts';
import { readId } from '../../schemas/stored/row-lines.ts';
import { voidId } from '../../schemas/stored/void-ids.ts';
import { storedIds, storedVoidsOf } from '../store/event-ids.ts';
import { type Block, linesWithout, splitLines } from './block.ts';
import { changesOf } from './block-pieces.ts';
import type { RecentIds } from './recent-ids.ts';

/**
 * Numbers of the lines to leave out: those that were seen before, and of the doubtful ones those whose event
 * is stored. Everything of the partition before this block is stored by now, and two of one block are found
 * by the filter, which knows more than a block: so no event is missed in between.
 */
export async function withKnownIds(
  warehouse: Pick<Warehouse, 'query'>,
  block: Block,
  seen: readonly number[],
  recentIds: Pick<RecentIds, 'mayHaveForgotten'>,
): Promise<number[]> {
  const doubtful = doubtfulIds(block, recentIds);
  // mutant: flagged-not-looked-up
  if (doubtful.size === 0) return [...seen];
  const known = new Set(seen);
  const requested = [...doubtful].filter(([number]) => !known.has(number));
  const changes = changesOf(block);
  const isVoid = ([number]: [number, string]) => changes[number]?.voids === true;
  const events = requested.filter((one) => !isVoid(one));
  const stored = await storedIds(
    warehouse,
    events.map(([, id]) => id),
  );
  for (const [number, id] of events) if (stored.has(id)) known.add(number);
  // mutant: voids-not-looked-up
  for (const number of await storedVoids(warehouse, block, requested.filter(isVoid))) known.add(number);
  return [...known].sort((a, b) => a - b);
}

/** Of these voids those that are stored, under the ids of the events that they take away. */
async function storedVoids(
  warehouse: Pick<Warehouse, 'query'>,
  block: Block,
  voids: ReadonlyArray<[number, string]>,
): Promise<number[]> {
  if (voids.length === 0) return [];
  const own = new Map(voids.map(([number, id]) => [id, number]));
  const rows = splitLines(linesWithout(block, []));
  const voided = voids.map(([number]) => readId(rows[number] ?? Buffer.alloc(0)));
  const stored = await storedVoidsOf(warehouse, voided);
  return stored.flatMap(({ change, id }) => own.get(`use_${base32(voidId(change, id))}`) ?? []);
}

/**
 * Ids by their number in the block, of flagged events and of frames that are too late for the filter. A frame
 * that hung in a connection for minutes is the first of two copies, so no writer has flagged it.
 */
function doubtfulIds(
  { frames }: Block,
  { mayHaveForgotten }: Pick<RecentIds, 'mayHaveForgotten'>,
): Map<number, string> {
  const doubtful = new Map<number, string>();
  let first = 0;
  for (const { records, recheck, eventCount, committedAtMs } of frames) {
    // mutant: forgotten-not-looked-up
    for (const event of mayHaveForgotten(committedAtMs) ? Array(eventCount).keys() : recheck) {
      doubtful.set(first + event, `use_${base32(idOf(records, event))}`);
    }
    first += eventCount;
  }
  return doubtful;
}
