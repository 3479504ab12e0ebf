import type { LoadedThrough } from '../../schemas/stored/channels.ts';
import type { Loaded } from './progress.ts';

/** How far one partition is loaded. */
export interface LoadedPartition {
  partition: number;
  hi: number;
}

/**
 * Positions of a log of several partitions as single numbers. A read of all durable ends together is a cut;
 * cuts are numbered, and the loaded position is the number of the latest cut before which everything is
 * loaded. Positions never decrease, so neither do the numbers. They are valid in this process only.
 */
export interface PartitionCuts {
  /** The number of a cut that was taken after this call. */
  durableEnd(): Promise<number>;
  loadedBy(notification: LoadedThrough): Loaded;
  loaded(partitions: readonly LoadedPartition[]): Loaded;
  /** Of all partitions together, as of their last read. */
  recordsLeft(): number;
}

interface Cut {
  number: number;
  ends: readonly number[];
}

/** Beyond it the oldest are dropped, and a reader that waits for one of them waits for the next. */
const CUTS_MAX = 4_096;

export function createPartitionCuts(durableEnds: () => Promise<number[]>): PartitionCuts {
  const loadedTo: number[] = [];
  let waiting: Cut[] = [];
  let seen: readonly number[] = [];
  let reached = 0;
  let last = 0;

  const isLoaded = (ends: readonly number[]) => ends.every((end, at) => end <= (loadedTo[at] ?? 0));

  function take(partitions: readonly LoadedPartition[]): Loaded {
    for (const { partition, hi } of partitions) {
      loadedTo[partition] = Math.max(loadedTo[partition] ?? 0, hi);
    }
    const firstOpen = waiting.findIndex(({ ends }) => !isLoaded(ends));
    const done = firstOpen < 0 ? waiting : waiting.slice(0, firstOpen);
    waiting = firstOpen < 0 ? [] : waiting.slice(firstOpen);
    reached = done.at(-1)?.number ?? reached;
    // Times in frames come from the clocks of several machines: only cuts show what is counted.
    return { hi: reached, throughMs: 0 };
  }

  return {
    async durableEnd() {
      const ends = await durableEnds();
      seen = ends;
      if (isLoaded(ends) && waiting.length === 0) return reached;
      const before = waiting.at(-1);
      if (before && ends.every((end, at) => end === before.ends[at])) return before.number;
      if (waiting.length === CUTS_MAX) waiting.shift();
      waiting.push({ number: ++last, ends });
      return last;
    },
    loadedBy: (notification) => take([notification]),
    loaded: take,
    recordsLeft: () => seen.reduce((sum, end, at) => sum + Math.max(0, end - (loadedTo[at] ?? 0)), 0),
  };
}
