import { readFileSync } from 'node:fs';
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
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields from the third on: the second, the name, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[11]) + Number(fields[12]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMicros: ticks * MICROS_PER_TICK,
    rssPeakBytes: kibibytes(status, 'VmHWM') * 1024,
    rssBytes: kibibytes(status, 'VmRSS') * 1024,
  };
}

/** A process with its children, such as the server processes of Postgres. */
export function familyCost(pid: number): ProcessCost {
  return [pid, ...childrenOf(pid)].map(costOrNothing).reduce((sum, one) => ({
    cpuMicros: sum.cpuMicros + one.cpuMicros,
    rssPeakBytes: sum.rssPeakBytes + one.rssPeakBytes,
    rssBytes: sum.rssBytes + one.rssBytes,
  }));
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
