import type { Clock } from '../../infra/ports/clock.ts';
import { createDurableSamples } from './durable-samples.ts';
import { watchClock } from './watched-clock.ts';

/** A range of the log that is in the warehouse: everything before `hi`, and what was acknowledged before. */
export interface Loaded {
  hi: number;
  throughMs: number;
}

export interface Lag {
  /** 0 if it is counted in records. */
  bytes: number;
  records?: number;
  seconds: number;
}

/**
 * The known durable end of the log, and the position up to which it is loaded. Neither decreases; `asOfMs`
 * decreases with the clock only: what is acknowledged then is not counted yet.
 */
export interface Progress {
  /** Reads the durable end. */
  look(): Promise<number>;
  advance(to: Loaded): void;
  /** Undefined until the first `advance`. */
  loadedTo(): number | undefined;
  asOfMs(): number;
  lag(): Lag;
}

export interface ProgressDeps {
  durableEnd(): Promise<number>;
  clock: Clock;
  /** How many records are not loaded, for a log whose positions are not bytes. */
  recordsLeft?(): number;
}

export function createProgress({ durableEnd, clock, recordsLeft }: ProgressDeps): Progress {
  const samples = createDurableSamples();
  let loaded: Loaded | undefined;
  let durable = 0;
  /** Before the clock was set back it had reached this time: times of frames may be from then. */
  let aheadMs = 0;
  let setBacks = 0;

  const nowMs = watchClock(clock, ({ fromMs, toMs }) => {
    setBacks++;
    aheadMs = Math.max(aheadMs, fromMs);
    samples.setBack(toMs);
    if (loaded) loaded.throughMs = Math.min(loaded.throughMs, toMs);
  });

  function asOfMs(): number {
    nowMs(); // it may have been set back since the last look
    return Math.max(samples.latestLoadedMs() ?? 0, loaded?.throughMs ?? 0);
  }

  return {
    async look() {
      // Taken before the read: what was acknowledged earlier than this is before the end that the read
      // returns.
      const atMs = nowMs();
      const before = setBacks;
      const end = await durableEnd();
      if (before === setBacks) samples.add({ atMs, end });
      durable = Math.max(durable, end);
      return end;
    },
    advance({ hi, throughMs }) {
      if (throughMs > nowMs()) aheadMs = Math.max(aheadMs, throughMs);
      loaded = {
        hi: Math.max(loaded?.hi ?? 0, hi),
        throughMs: Math.max(loaded?.throughMs ?? 0, throughMs > aheadMs ? throughMs : 0),
      };
      samples.loaded(loaded.hi);
    },
    loadedTo: () => loaded?.hi,
    asOfMs,
    lag() {
      const left = Math.max(0, durable - (loaded?.hi ?? 0));
      const seconds = left === 0 ? 0 : Math.max(0, (clock.nowMs() - asOfMs()) / 1000);
      return recordsLeft ? { bytes: 0, records: recordsLeft(), seconds } : { bytes: left, seconds };
    },
  };
}
