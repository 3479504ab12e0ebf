import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

export interface MachineFacts {
  node: string;
  machine: { cpu: string; cores: number; memoryGib: number };
}

/** What figures were measured on. */
export function machineFacts(): MachineFacts {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
  };
  return { node: process.version, machine };
}

/** The short name of the commit that is checked out; `none` outside a repository. */
export function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'none';
  }
}
