import { endsLook, type JobTurn } from '../../domain/leased-job.ts';
import { asTransient, isTimeout } from '../../infra/postgres/unavailable.ts';
import type { BackoffQueue } from './backoff-queue.ts';

/** What a look of a leased job works through. */
export interface DueWork<Piece> extends JobTurn {
  idOf: (piece: Piece) => string;
  /** The next ones that are due by now, but for those with these ids. */
  findDue: (except: string[]) => Promise<Piece[]>;
  /** Does one of them, or those of a chunk together, in a transaction under this epoch of the lease. */
  work: (pieces: readonly Piece[], epoch: number) => Promise<void>;
  isTogether: boolean;
  /** Pieces that took too long: the job does the others first. */
  slow: BackoffQueue<Piece>;
  /** One of them could not be done: it is tried again in the next look. */
  onFailure: (err: unknown, piece: Piece) => void;
}

/** Failures per look: so many have one common cause. */
const FAILURES_MAX = 100;

/**
 * Does all that is due, chunk by chunk. False when some are left: another process has the lease, or a piece
 * failed, which delays no other. Throws Transient when everything else would fail, too.
 */
export async function workThrough<Piece>(due: DueWork<Piece>): Promise<boolean> {
  const { signal, slow, idOf } = due;
  const failed: Piece[] = [];
  while (!signal.aborted && failed.length < FAILURES_MAX) {
    const epoch = await due.hold();
    if (epoch === undefined) return false;
    const found = await due.findDue([...failed, ...slow.all()].map(idOf));
    const late = found.length === 0 ? slow.take() : undefined;
    const pieces = late ? [late] : found;
    if (pieces.length === 0) break;
    const failures = await workOn(due, pieces, epoch);
    failed.push(...failures);
    if (late && failures.length > 0) break;
  }
  return failed.length + slow.all().length === 0;
}

/** All together, or one after the other if that fails. Returns the pieces that failed. */
async function workOn<Piece>(due: DueWork<Piece>, pieces: readonly Piece[], epoch: number): Promise<Piece[]> {
  const isTogether = due.isTogether && pieces.length > 1;
  try {
    if (isTogether) {
      await due.work(pieces, epoch);
      return [];
    }
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
  }
  const failed: Piece[] = [];
  for (const piece of pieces) {
    if (due.signal.aborted) break;
    // The statement that timed out took longer than the lease.
    if (isTogether) await due.hold();
    if (!(await isDone(due, piece, epoch))) failed.push(piece);
  }
  return failed;
}

async function isDone<Piece>(due: DueWork<Piece>, piece: Piece, epoch: number): Promise<boolean> {
  try {
    await due.work([piece], epoch);
    return true;
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
    due.onFailure(err, piece);
    if (isTimeout(err)) due.slow.add(piece);
    return false;
  }
}
