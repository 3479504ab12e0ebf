import type { Clock } from '../infra/ports/clock.ts';

/** Pieces of a job that fail or take too long, so that it does the others first. */
export interface PutOffs<Piece> {
  /** For half a minute from now on, also one that is put off already. */
  add(piece: Piece): void;
  has(piece: Piece): boolean;
  all(): Piece[];
  /** For when nothing else is to be done: what waits longest, if its time has come. It is put off no more. */
  take(): Piece | undefined;
}

/** One that times out has taken ten seconds of its job each time. */
const PUT_OFF_MS = 30_000;
/** Then what waits longest is tried with the others. */
const COUNT_MAX = 1_000;

/** In memory: nothing is written of a piece that somebody else may have done or changed meanwhile. */
export function createPutOffs<Piece>(
  { monotonicMs }: Pick<Clock, 'monotonicMs'>,
  idOf: (piece: Piece) => string,
): PutOffs<Piece> {
  /** Longest first. */
  const waiting = new Map<string, { piece: Piece; untilMs: number }>();

  function oldest(): { piece: Piece; untilMs: number } | undefined {
    return waiting.values().next().value;
  }

  return {
    add(piece) {
      waiting.delete(idOf(piece));
      waiting.set(idOf(piece), { piece, untilMs: monotonicMs() + PUT_OFF_MS });
      const first = oldest();
      if (first && waiting.size > COUNT_MAX) waiting.delete(idOf(first.piece));
    },
    has: (piece) => waiting.has(idOf(piece)),
    all: () => Array.from(waiting.values(), ({ piece }) => piece),
    take() {
      const first = oldest();
      if (!first || first.untilMs > monotonicMs()) return undefined;
      waiting.delete(idOf(first.piece));
      return first.piece;
    },
  };
}
