import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { Fatal, type Poison, Transient } from '../../schemas/failures.ts';
import { quarantinedLine } from '../key-export/event-record.ts';
import type { AggregatorMetrics } from '../metrics.ts';
import { keepRejectedLines } from '../store/quarantine.ts';
import { dropLines, type Range } from '../store/ranges.ts';
import { type Block, linesWithout, splitLines } from './block.ts';
import { changesOf } from './block-pieces.ts';
import { leaseLost } from './lease.ts';

interface QuarantineDeps {
  pool: Pool;
  warehouse: Pick<Warehouse, 'accepts'>;
  log: Logger;
  metrics: Pick<AggregatorMetrics, 'quarantined'>;
}

/**
 * Quarantines the unreadable lines and returns all that the range leaves out. Nothing of the block was stored
 * yet.
 */
export async function quarantineLines(
  { pool, warehouse, log, metrics }: QuarantineDeps,
  range: Range,
  block: Block,
  cause: Poison,
): Promise<number[]> {
  const lines = splitLines(linesWithout(block, []));
  const left = lines.flatMap((body, line) => (range.dropped.includes(line) ? [] : [{ line, body }]));
  const indexes = await findRejectedLines(
    warehouse,
    left.map(({ body }) => body),
  );
  const changes = changesOf(block);
  const rejected = indexes.flatMap((index) => {
    const found = left[index];
    return found ? [{ line: found.line, body: quarantinedLine(found.body, changes[found.line]) }] : [];
  });
  if (rejected.length === 0) {
    throw new Transient('block_refused', 'ClickHouse rejects a block, but none of its lines.', { cause });
  }
  const dropped = [...range.dropped, ...rejected.map(({ line }) => line)].sort((a, b) => a - b);
  await inTransaction(pool, async (client) => {
    await keepRejectedLines(client, range, rejected, cause.code);
    if (!(await dropLines(client, range, dropped))) throw leaseLost();
  });
  metrics.quarantined(rejected.length);
  log.error(
    { lo: range.lo, lines: rejected.length },
    'ClickHouse cannot read these lines: they are quarantined',
  );
  return dropped;
}

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
