import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../poll.ts';
import {
  identityOf,
  isAlive,
  isLiving,
  type ProcessIdentity,
  signal,
  workingDirectoryOf,
} from '../process-identity.ts';

export interface Postmaster extends ProcessIdentity {
  port: number;
}

/** Fast, then immediate, then by force: together well under the 15 s that a stop may take. */
const STOP_STEPS = [
  { signal: 'SIGINT', timeoutMs: 6_000 },
  { signal: 'SIGQUIT', timeoutMs: 3_000 },
  { signal: 'SIGKILL', timeoutMs: 2_000 },
] as const;

/**
 * The living postmaster that the folder's postmaster.pid names. The file of a dead one is left to Postgres; a pid
 * that now belongs to somebody else would make Postgres refuse to start, so that file is removed.
 */
export function findPostmaster(directory: string): Postmaster | undefined {
  const file = join(directory, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  // Line 1 is the pid, line 4 the port (source: postgres, miscadmin.h, LOCK_FILE_LINE_*).
  const [pid, , , port] = readFileSync(file, 'utf8').split('\n').map(Number);
  if (!pid || !isAlive(pid)) return undefined;
  const workingDirectory = workingDirectoryOf(pid);
  if (workingDirectory !== undefined && workingDirectory !== realpathSync(directory)) {
    rmSync(file, { force: true });
    return undefined;
  }
  return { ...identityOf(pid), port: port ?? 0 };
}

export async function stopPostmaster(postmaster: ProcessIdentity): Promise<void> {
  for (const step of STOP_STEPS) {
    if (!isLiving(postmaster)) return;
    signal(postmaster.pid, step.signal);
    await hasEnded(postmaster, step.timeoutMs);
  }
}

/**
 * After kill -9 of a postmaster its backends live until they notice, and a new one refuses to start while they
 * hold the shared memory. Asks them to go, then makes them: without a postmaster they can save nothing.
 */
export async function clearLeftovers(directory: string): Promise<void> {
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    const leftovers = processesIn(directory);
    for (const pid of leftovers) signal(pid, name);
    const gone = () => (processesIn(directory).length === 0 ? true : undefined);
    if (await poll(gone, { timeoutMs: 1_000, everyMs: 20 })) return;
  }
}

function hasEnded(process: ProcessIdentity, timeoutMs: number): Promise<true | undefined> {
  return poll(() => (isLiving(process) ? undefined : true), { timeoutMs, everyMs: 20 });
}

/** Every server process works in its cluster's folder. Linux only; elsewhere the start itself tries again. */
function processesIn(directory: string): number[] {
  if (process.platform !== 'linux' || !existsSync(directory)) return [];
  const cluster = realpathSync(directory);
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => pid !== process.pid && workingDirectoryOf(pid) === cluster && isAlive(pid));
}
