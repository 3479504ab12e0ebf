import type { Clock } from '../../infra/ports/clock.ts';

/** Between two readings the clock was set back. Milliseconds since 1970. */
export interface SetBack {
  /** Later than this it did not stand before. */
  fromMs: number;
  /** Earlier than this it did not stand since. */
  toMs: number;
}

/** Reads the clock, and tells first when it was set back since the last time. */
export function watchClock(clock: Clock, setBack: (how: SetBack) => void): () => number {
  const read = () => ({ nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
  let last = read();
  return () => {
    const now = read();
    const passedMs = now.monotonicMs - last.monotonicMs;
    const toMs = Math.floor(now.nowMs - passedMs);
    const fromMs = Math.ceil(last.nowMs + passedMs);
    // Whole milliseconds against parts of them: a clock that was left alone seems to lose less than one.
    const isSetBack = toMs < last.nowMs - 1;
    last = now;
    if (isSetBack) setBack({ fromMs, toMs });
    return now.nowMs;
  };
}
