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
  // Others may run between two readings, for as long as they like.
  const read = () => ({ sinceMs: clock.monotonicMs(), nowMs: clock.nowMs(), untilMs: clock.monotonicMs() });
  let last = read();
  return () => {
    const now = read();
    const passedMs = { least: now.sinceMs - last.untilMs, most: now.untilMs - last.sinceMs };
    const toMs = Math.floor(now.nowMs - passedMs.most);
    const fromMs = Math.ceil(last.nowMs + passedMs.most);
    // Whole milliseconds against parts of them: a clock that was left alone seems to lose less than one.
    const isSetBack = now.nowMs - last.nowMs < passedMs.least - 1;
    last = now;
    if (isSetBack) setBack({ fromMs, toMs });
    return now.nowMs;
  };
}
