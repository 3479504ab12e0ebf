import { readdirSync } from 'node:fs';
import { processCost } from '../../support/process-cost.ts';

export type Sizes = ReturnType<typeof createSizes>;

const MEBIBYTE = 1024 * 1024;

/**
 * Beyond what a process had before the outage. The heap breathes by some 100 MiB between two collections;
 * every client and every connection to a store is a file, and a store that hangs may have each reopened.
 */
const GROWTH_MAX = { rssMib: 256, openFiles: 100 } as const;
/** Whatever it had before: round after round a little would be within the growth. */
const MAX = { rssMib: 640, openFiles: 200 } as const;

type Measure = keyof typeof MAX;

/**
 * Memory and open files of processes over an outage: none of them may grow with it. `pids`: by the names that
 * they have in the result. Looks once, before the outage.
 */
export function createSizes(pids: Record<string, number>) {
  const seen = Object.entries(pids).flatMap(([role, pid]) => {
    return MEASURES.map((measure) => {
      const before = sizeOf(measure, pid);
      return { role, pid, measure, before, peak: before };
    });
  });
  const peaks: Record<string, number> = {};
  const look = (): void => {
    for (const one of seen) {
      one.peak = Math.max(one.peak, sizeOf(one.measure, one.pid));
      peaks[`${one.measure}Of${one.role}`] = one.peak;
    }
  };
  look();
  return {
    look,
    peaks,
    /** A sentence for each bound that a look found crossed. */
    problems: (): string[] =>
      seen.flatMap(({ role, measure, before, peak }) => {
        const isSound = peak <= MAX[measure] && peak - before <= GROWTH_MAX[measure];
        return isSound ? [] : [`${measure} of ${role} went from ${before} to ${peak}`];
      }),
  };
}

const MEASURES: readonly Measure[] = ['rssMib', 'openFiles'];

function sizeOf(measure: Measure, pid: number): number {
  if (measure === 'openFiles') return readdirSync(`/proc/${pid}/fd`).length;
  return Math.round(processCost(pid).rssBytes / MEBIBYTE);
}
