import { readFileSync, writeFileSync } from 'node:fs';
import { childrenOf } from './processes.ts';

/** What a process has cost so far. */
export interface ProcessCost {
  cpuMicros: number;
  /** The largest resident set it ever had. */
  rssPeakBytes: number;
  rssBytes: number;
}

/** USER_HZ: 100 on every Linux that Node runs on. */
const MICROS_PER_TICK = 10_000;

export function processCost(pid: number): ProcessCost {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMicros: ticksOf(pid).own * MICROS_PER_TICK,
    rssPeakBytes: kibibytes(status, 'VmHWM') * 1024,
    rssBytes: kibibytes(status, 'VmRSS') * 1024,
  };
}

/** The largest resident set counts from now on; of the kernel, where it has that. */
export function resetMemoryPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** A process with its children, such as the server processes of Postgres; CPU of those that ended, too. */
export function familyCost(pid: number): ProcessCost {
  const family = [pid, ...childrenOf(pid)].map(costOrNothing).reduce((sum, one) => ({
    cpuMicros: sum.cpuMicros + one.cpuMicros,
    rssPeakBytes: sum.rssPeakBytes + one.rssPeakBytes,
    rssBytes: sum.rssBytes + one.rssBytes,
  }));
  return { ...family, cpuMicros: family.cpuMicros + ticksOf(pid).ofEnded * MICROS_PER_TICK };
}

/** Of a process, and of its children that have ended. */
function ticksOf(pid: number): { own: number; ofEnded: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields from the third on: the second, the name, can contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number);
  return { own: user + system, ofEnded: endedUser + endedSystem };
}

/** A child may end between the listing and the reading. */
function costOrNothing(pid: number): ProcessCost {
  try {
    return processCost(pid);
  } catch {
    return { cpuMicros: 0, rssPeakBytes: 0, rssBytes: 0 };
  }
}

function kibibytes(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}
