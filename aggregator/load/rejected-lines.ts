import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { Fatal } from '../../schemas/failures.ts';

/**
 * A block with more than this is no accident of a line: something is wrong with all of them, and nothing is
 * dropped.
 */
const REJECTED_MAX = 1_000;

/**
 * Finds the lines that the warehouse cannot read, as indexes into `lines`, ascending: halves are tried, and
 * the bad half halved again. Throws Fatal `too_many_refused` rather than quarantining a thousand events.
 */
export async function findRejectedLines(
  warehouse: Pick<Warehouse, 'accepts'>,
  lines: Buffer[],
): Promise<number[]> {
  const rejected: number[] = [];

  async function search(from: number, to: number): Promise<void> {
    if (await warehouse.accepts(Buffer.concat(lines.slice(from, to)))) return;
    if (to - from > 1) {
      const middle = (from + to) >>> 1;
      await search(from, middle);
      await search(middle, to);
      return;
    }
    rejected.push(from);
    if (rejected.length > REJECTED_MAX) {
      throw new Fatal('too_many_refused', `ClickHouse rejects more than ${REJECTED_MAX} lines of one block.`);
    }
  }

  if (lines.length > 0) await search(0, lines.length);
  return rejected;
}
