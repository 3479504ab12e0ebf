import { readFileSync } from 'node:fs';

/**
 * For what has to happen within a time: milliseconds since now, without those in which this thread was ready
 * to run while others had every core. What else runs on the machine is no fault of the code under test.
 */
export function startStopwatch(): () => number {
  const [startedMs, waitedMs] = [performance.now(), waitedForCoreMs('thread-self')];
  return () => performance.now() - startedMs - (waitedForCoreMs('thread-self') - waitedMs);
}

/** How long the first thread of a process waited for a core since it began; 0 where no `/proc` says so. */
export function waitedForCoreMs(task: number | 'thread-self'): number {
  try {
    // The second figure, in nanoseconds (proc(5)).
    return Number(readFileSync(`/proc/${task}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
