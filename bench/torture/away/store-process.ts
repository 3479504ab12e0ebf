import { readdirSync, readFileSync } from 'node:fs';
import { parentOf, signal } from '../../../infra/process-identity.ts';
import type { Address } from '../proxy/tcp-proxy.ts';

/** A store as processes of its own, on a folder that stays. */
export interface StoreProcess {
  /** Of the running one; of the last one while none runs. */
  address(): Address;
  /** SIGKILL for every process of it. Resolves when they are gone. */
  kill(): Promise<void>;
  /** On the same folder, after a kill. Resolves when it takes connections. */
  start(): Promise<void>;
  /** SIGSTOP for every process of it: connections stay and are taken, and nothing answers. */
  freeze(): void;
  thaw(): void;
}

/** Signals a process and its children, and gives their ids. The parent is stopped first: it makes no more. */
export function signalFamily(pid: number, name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): number[] {
  if (name !== 'SIGCONT') signal(pid, 'SIGSTOP');
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  const family = [pid, ...pids.filter((one) => parentOf(one) === pid)];
  for (const member of family) signal(member, name);
  return family;
}

/** Resident memory of a process; 0 when it has ended. */
export function rssMib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
