import type { Clock } from '../../infra/ports/clock.ts';
import { createDurableSamples } from './durable-samples.ts';

/** A range of the log that is in the warehouse: everything before `hi`, and what was acknowledged before. */
export interface Loaded {
  hi: number;
  throughMs: number;
}

export interface Lag {
  /** 0 where it is counted in records. */
  bytes: number;
  records?: number;
  seconds: number;
}

/** What is known of the log's durable end and of the position up to which it is loaded. Neither goes back. */
export interface Progress {
  /** Looks at the durable end. */
  look(): Promise<number>;
  advance(to: Loaded): void;
  /** Undefined until it was told for the first time. */
  loadedTo(): number | undefined;
  asOfMs(): number;
  lag(): Lag;
}

export interface ProgressDeps {
  durableEnd(): Promise<number>;
  clock: Clock;
  /** How many records are not loaded, of a log whose positions are no bytes. */
  recordsLeft?(): number;
}

export function createProgress({ durableEnd, clock, recordsLeft }: ProgressDeps): Progress {
  const samples = createDurableSamples();
  let loaded: Loaded | undefined;
  let durable = 0;

  function asOfMs(): number {
    // Never later than now: a frame may have been written while the clock stood ahead.
    return Math.min(clock.nowMs(), Math.max(samples.latestLoadedMs() ?? 0, loaded?.throughMs ?? 0));
  }

  return {
    async look() {
      // Before the look: an acknowledgement earlier than this cannot be beyond the end that is then seen.
      const atMs = clock.nowMs();
      const end = await durableEnd();
      samples.add({ atMs, end });
      durable = Math.max(durable, end);
      return end;
    },
    advance(to) {
      loaded = {
        hi: Math.max(loaded?.hi ?? 0, to.hi),
        throughMs: Math.max(loaded?.throughMs ?? 0, to.throughMs),
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
