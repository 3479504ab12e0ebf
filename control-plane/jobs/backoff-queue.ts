import type { Clock } from '../../infra/ports/clock.ts';

/** Pieces of a job that failed or took too long: the job does the others first. */
export interface BackoffQueue<Piece> {
  /** Starts the wait now; it is longer each time the piece comes back from {@link BackoffQueue.take}. */
  add(piece: Piece): void;
  has(piece: Piece): boolean;
  all(): Piece[];
  /** Returns the piece that has waited longest, if its wait is over. */
  take(): Piece | undefined;
}

/** A short pause of a store delays healthy pieces too: their wait should be short. */
const FIRST_MS = 2_000;
/** A piece that times out takes ten seconds of its job each time. */
const MS_MAX = 30_000;
/** Beyond it, the piece that has waited longest is tried with the others. */
const COUNT_MAX = 1_000;

interface Waiting<Piece> {
  piece: Piece;
  waitMs: number;
  untilMs: number;
}

/** Not stored: another process may have done or changed a piece meanwhile, so nothing is written. */
export function createBackoffQueue<Piece>(
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
  idOf: (piece: Piece) => string,
): BackoffQueue<Piece> {
  /** Longest first. */
  const waiting = new Map<string, Waiting<Piece>>();
  /** The last piece taken: if it is added again, it has failed again. */
  let tried: Waiting<Piece> | undefined;

  function nextWaitMs(id: string): number {
    const last = waiting.get(id) ?? (tried && idOf(tried.piece) === id ? tried : undefined);
    return last ? Math.min(2 * last.waitMs, MS_MAX) : FIRST_MS;
  }

  return {
    add(piece) {
      const id = idOf(piece);
      const waitMs = nextWaitMs(id);
      waiting.delete(id);
      waiting.set(id, { piece, waitMs, untilMs: monotonicMs() + waitMs });
      const [first] = waiting.keys();
      if (first !== undefined && waiting.size > COUNT_MAX) waiting.delete(first);
    },
    has: (piece) => waiting.has(idOf(piece)),
    all: () => Array.from(waiting.values(), ({ piece }) => piece),
    take() {
      const nowMs = monotonicMs();
      tried = Array.from(waiting.values()).find(({ untilMs }) => untilMs <= nowMs);
      if (!tried) return undefined;
      waiting.delete(idOf(tried.piece));
      return tried.piece;
    },
  };
}
