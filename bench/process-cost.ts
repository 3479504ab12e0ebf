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
  const fields = statFields(pid);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    cpuMicros: (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK,
    rssPeakBytes: kibibytes(status, 'VmHWM') * 1024,
    rssBytes: kibibytes(status, 'VmRSS') * 1024,
  };
}

/** Of all children of a process that have ended, and of theirs. */
export function endedChildrenCpuMicros(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[13]) + Number(fields[14])) * MICROS_PER_TICK;
}

/** Fields from the third on: the second, the name, may hold spaces. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
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
