import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Mutex } from '../../infra/platform/mutex.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import type { DeadLetters, EventLogReader } from '../../infra/ports/event-log.ts';
import type { EventBlock, EventLines, Warehouse } from '../../infra/ports/warehouse.ts';
import { Poison } from '../../schemas/failures.ts';
import type { AggregatorMetrics } from '../metrics.ts';
import { freezeRange, markLoaded, type Range, type UnsettledRange } from '../store/ranges.ts';
import { untilNoInsertRuns } from '../store/running-inserts.ts';
import { type Block, readBlock } from './block.ts';
import { type Piece, piecesOf } from './block-pieces.ts';
import { withInsertLock } from './insert-lock.ts';
import { type Lease, leaseLost } from './lease.ts';
import { quarantineLines } from './quarantine-lines.ts';

export interface LoadDeps {
  pool: Pool;
  warehouse: Warehouse;
  reader: EventLogReader;
  clock: Clock;
  log: Logger;
  metrics: AggregatorMetrics;
  /** Set for a log whose partitions are loaded concurrently by several processes. */
  distributed?: DistributedLoad;
}

export interface DistributedLoad {
  deadLetters: DeadLetters;
  /**
   * Of a warehouse that takes one insert at a time: those of this process wait for each other here, so that
   * they wait for those of others with one connection.
   */
  oneAtATime?: Mutex;
  /** Of a process: the locks for which its partitions wait with one connection, not with one each. */
  entering?: Mutex;
  settling?: Mutex;
}

/** Longer than any insert takes on a busy disk, shorter than a lease. */
const INSERT_TIMEOUT_MS = 20_000;
/** With less time left on the lease an insert is not begun. */
const INSERT_TIME_MIN_MS = 1_000;

/**
 * Freezes the block and loads it. Whatever fails in between is taken up by {@link resumeRange}. Gives what is
 * then to be settled.
 */
export async function loadBlock(
  deps: LoadDeps,
  lease: Lease,
  block: Block,
  dropped: number[],
): Promise<Range> {
  const { logId, partition, epoch } = lease;
  const { lo, hi, eventCount, checksum, throughMs } = block;
  const range: Range = { logId, partition, epoch, lo, hi, eventCount, dropped, checksum, throughMs };
  // mutant: range-not-frozen
  if (!(await freezeRange(deps.pool, range))) throw leaseLost();
  // mutant: loaded-before-insert
  await insertRange(deps, { lease, range, wasSent: false }, block);
  await finishRange(deps, range);
  return range;
}

/**
 * Continues with a range that was frozen before. Its bytes are read again and its own drop list is used,
 * never the filter: what is sent again must be the same bytes, or one of the warehouse's tables would miss
 * rows. Gives the block, to be settled.
 */
export async function resumeRange(deps: LoadDeps, lease: Lease, range: UnsettledRange): Promise<Block> {
  // mutant: filter-on-retry
  const block = await readBlock(deps.reader, range.partition, range);
  if (range.state === 'loaded') return block;
  // mutant: resumed-range-believed
  await insertRange(deps, { lease, range, wasSent: true }, block);
  await finishRange(deps, range);
  return block;
}

/** Marked only when the rows are on disk: a crash before leaves the range pending, and it is sent again. */
async function finishRange({ pool, metrics }: LoadDeps, range: Range): Promise<void> {
  if (!(await markLoaded(pool, range))) throw leaseLost();
  metrics.loaded(range.partition, range.eventCount, range.hi);
}

interface Sending {
  lease: Lease;
  range: Range;
  /** Whether an earlier sending may have been cut off in the middle. */
  wasSent: boolean;
}

async function insertRange(deps: LoadDeps, sending: Sending, block: Block): Promise<void> {
  const { range } = sending;
  try {
    await insertPieces(deps, sending, piecesOf(block, range.dropped));
  } catch (error) {
    if (!(error instanceof Poison)) throw error;
    // Pieces that are already stored contain none of the rejected lines: they stay as they are.
    const dropped = await quarantineLines(deps, range, block, error);
    await insertPieces(deps, sending, piecesOf(block, dropped));
  }
}

async function insertPieces(deps: LoadDeps, sending: Sending, pieces: Piece[]): Promise<void> {
  for (const piece of pieces) await insertPiece(deps, sending, piece);
}

async function insertPiece(deps: LoadDeps, sending: Sending, piece: Piece): Promise<void> {
  if (bytesOf(piece.lines) === 0) return;
  const { logId } = sending.range;
  const { wasSent } = sending;
  const { pool, warehouse, distributed } = deps;
  const insert = async (mayWrite?: () => Promise<void>) => {
    if (wasSent) await untilNoInsertRuns(warehouse);
    await insertNow(deps, sending, { ...piece, ...(mayWrite ? { mayWrite } : {}) });
  };
  if (!distributed) return await insert();
  const alone = wasSent || /* mutant: cluster-inserted-concurrently */ distributed.oneAtATime !== undefined;
  const { entering } = distributed;
  const enter = () => withInsertLock(pool, { logId, alone, ...(entering ? { entering } : {}) }, insert);
  await (distributed.oneAtATime ? distributed.oneAtATime(enter) : enter());
}

async function insertNow(
  { warehouse, clock, metrics }: LoadDeps,
  { lease, range, wasSent }: Sending,
  { name, lines, change, mayWrite }: Piece & Pick<EventBlock, 'mayWrite'>,
): Promise<void> {
  const timeoutMs = Math.min(INSERT_TIMEOUT_MS, lease.remainingMs(INSERT_TIME_MIN_MS));
  const startedAtMs = clock.monotonicMs();
  await warehouse.insertEvents({
    // mutant: new-token-for-a-retry
    token: tokenOf(range) + name,
    lines,
    timeoutMs,
    wasSent,
    ...(change ? { change } : {}),
    ...(mayWrite ? { mayWrite } : {}),
  });
  metrics.inserted((clock.monotonicMs() - startedAtMs) / 1000, bytesOf(lines));
}

function bytesOf(lines: EventLines): number {
  return 'frames' in lines ? lines.frames.reduce((sum, { bytes }) => sum + bytes.length, 0) : lines.length;
}

function tokenOf({ logId, partition, lo, hi }: Range): string {
  return `${logId}-${partition}-${lo}-${hi}`;
}
