import type { Clock } from '../../infra/ports/clock.ts';

/** Between two readings the clock was set back. Milliseconds since 1970. */
export interface SetBack {
  /** Before it was set back, the clock was at no later time than this. */
  fromMs: number;
  /** Since then it was at no earlier time than this. */
  toMs: number;
}

/** Reads the clock, and first reports whether it was set back since the last time. */
export function watchClock(clock: Clock, setBack: (how: SetBack) => void): () => number {
  // Any time may pass between two readings.
  const read = () => ({ sinceMs: clock.monotonicMs(), nowMs: clock.nowMs(), untilMs: clock.monotonicMs() });
  let last = read();
  return () => {
    const now = read();
    const passedMs = { least: now.sinceMs - last.untilMs, most: now.untilMs - last.sinceMs };
    const toMs = Math.floor(now.nowMs - passedMs.most);
    const fromMs = Math.ceil(last.nowMs + passedMs.most);
    // Whole milliseconds are compared with fractions: an unchanged clock seems to lose less than one.
    const isSetBack = now.nowMs - last.nowMs < passedMs.least - 1;
    last = now;
    if (isSetBack) setBack({ fromMs, toMs });
    return now.nowMs;
  };
}
