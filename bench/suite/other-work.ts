import { readdirSync, readFileSync } from 'node:fs';
import { rounded } from './paired.ts';

/** CPU that a process has taken so far, in ticks. */
export interface ProcessTicks {
  pid: number;
  parent: number;
  ticks: number;
}

const LOOK_EVERY_MS = 2_000;
/** USER_HZ: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/**
 * How many cores all processes but this one and those that it started have kept busy since, on average.
 * Those that begin and end between two looks are missing.
 */
export function watchOtherWork(): { stop(): number } {
  const startedAt = performance.now();
  let ticks = 0;
  let last = processTicks();
  const look = () => {
    const now = processTicks();
    ticks += ticksOfOthers(last, now, process.pid);
    last = now;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      const seconds = (performance.now() - startedAt) / 1_000;
      return rounded(ticks / TICKS_PER_SECOND / seconds);
    },
  };
}

/** Between two looks, of all that do not descend from `root`. */
export function ticksOfOthers(
  before: readonly ProcessTicks[],
  after: readonly ProcessTicks[],
  root: number,
): number {
  const earlier = new Map(before.map(({ pid, ticks }) => [pid, ticks]));
  const parents = new Map(after.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === root || isOurs(parents.get(pid)));
  return after.reduce((sum, { pid, ticks }) => {
    const spent = ticks - (earlier.get(pid) ?? 0);
    // A number is used again: a process that has taken less than before is another one.
    return isOurs(pid) ? sum : sum + (spent < 0 ? ticks : spent);
  }, 0);
}

function processTicks(): ProcessTicks[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!pid) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // Fields from the third on: the second, the name, can contain spaces.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const [user = 0, system = 0] = fields.slice(11, 13).map(Number);
      return [{ pid, parent: Number(fields[1]), ticks: user + system }];
    } catch {
      return [];
    }
  });
}
