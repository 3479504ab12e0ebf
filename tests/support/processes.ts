import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { poll } from '../../infra/platform/poll.ts';
import {
  isAlive,
  isLiving,
  type ProcessIdentity,
  parentOf,
  signal,
} from '../../infra/platform/process-identity.ts';

/** The role's process on a data folder, by its lock: that very process, alive. */
export function lockOwner(dataDir: string, role: 'ingest' | 'control'): ProcessIdentity | undefined {
  try {
    const owner = JSON.parse(readFileSync(dataDirAt(dataDir).lock(role), 'utf8')) as ProcessIdentity;
    return isLiving(owner) ? owner : undefined;
  } catch {
    return undefined;
  }
}

export function childrenOf(pid: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((one) => parentOf(one) === pid);
}

/** Its children and theirs, to the last. */
export function descendantsOf(pid: number): number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendantsOf)];
}

/** Does something while a process is held still. */
export async function whilePaused<T>(pid: number, act: () => Promise<T>): Promise<T> {
  process.kill(pid, 'SIGSTOP');
  return await act().finally(() => process.kill(pid, 'SIGCONT'));
}

const GONE = { timeoutMs: 20_000, everyMs: 10 };

/** SIGKILL for each of them, and for who joins them meanwhile. Resolves when none is left. */
export async function endByForce(find: () => ProcessIdentity[]): Promise<void> {
  const none = () => {
    const living = find().filter(isLiving);
    for (const { pid } of living) signal(pid, 'SIGKILL');
    return living.length === 0 ? true : undefined;
  };
  if (await poll(none, GONE)) return;
  const pids = find().map(({ pid }) => pid);
  throw new Error(`${pids.join(', ')} did not end by SIGKILL within ${GONE.timeoutMs} ms`);
}

/** A folder's name begins with `prefix`, the pid of the run that made it, and a hyphen. */
export function foldersOfDeadRuns(prefix: string, parent = tmpdir()): string[] {
  const names = readdirSync(parent).filter((name) => name.startsWith(prefix));
  const dead = names.filter((name) => !isAlive(Number(name.slice(prefix.length).split('-')[0])));
  return dead.map((name) => join(parent, name));
}
