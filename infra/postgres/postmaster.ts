import { existsSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../platform/poll.ts';
import {
  commandOf,
  identityOf,
  isAlive,
  isLiving,
  type ProcessIdentity,
  signal,
  workingDirectoryOf,
} from '../platform/process-identity.ts';

export interface Postmaster extends ProcessIdentity {
  port: number;
}

/** Fast, then immediate, then by force: shares of the time that a stop is given. */
const STOP_STEPS = [
  { signal: 'SIGINT', share: 0.6 },
  { signal: 'SIGQUIT', share: 0.3 },
  { signal: 'SIGKILL', share: 0.1 },
] as const;
/** Well under the 15 s that a stop may take. */
const STOP_TIMEOUT_MS = 10_000;

/**
 * The living postmaster that the folder's postmaster.pid names. The file of a dead one is left to Postgres; a
 * pid that now belongs to another process would stop Postgres from starting, so that file is removed.
 */
export function findPostmaster(
  directory: string,
  workingDirectory = workingDirectoryOf,
): Postmaster | undefined {
  const { pid, cluster, port } = readLockFile(directory);
  if (!pid || !isAlive(pid)) return undefined;
  const folder = workingDirectory(pid) ?? folderByCommand(pid, cluster);
  if (folder !== realpathSync(directory)) {
    rmSync(lockFile(directory), { force: true });
    return undefined;
  }
  return { ...identityOf(pid), port };
}

/**
 * The folder that a process serves, where the machine does not show its working folder: macOS, and a
 * container whose root may not read that of Postgres' account. The file alone proves nothing: it is copied
 * with the folder, and survives a power cut.
 */
function folderByCommand(pid: number, cluster: string): string | undefined {
  if (!existsSync(cluster) || !`${commandOf(pid)} `.includes(` -D ${cluster} `)) return undefined;
  return realpathSync(cluster);
}

/** What its lines contain. Source: postgres, pidfile.h, LOCK_FILE_LINE_*. */
function readLockFile(directory: string) {
  const [pid, cluster = '', , port] = linesOf(lockFile(directory));
  return { pid: Number(pid), cluster, port: Number(port) };
}

/** None where there is no file: a server removes its own when it ends. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function lockFile(directory: string): string {
  return join(directory, 'postmaster.pid');
}

export async function stopPostmaster(
  postmaster: ProcessIdentity,
  timeoutMs = STOP_TIMEOUT_MS,
): Promise<void> {
  for (const step of STOP_STEPS) {
    if (!isLiving(postmaster)) return;
    signal(postmaster.pid, step.signal);
    await hasEnded(postmaster, step.share * timeoutMs);
  }
}

/**
 * After kill -9 of a postmaster its backends live until they notice, and a new one does not start while they
 * hold the shared memory. Sends them SIGTERM, then SIGKILL: without a postmaster they can save nothing. When
 * none is left the lock file is removed too: Postgres takes a zombie for a living postmaster, and where the
 * first process of the machine reaps late or never (many containers) it would not start for as long.
 *
 * `family` are those known to be of that server: a dying process releases its folder some time before it is
 * dead, and no search finds it then.
 */
export async function clearLeftovers(directory: string, family: ProcessIdentity[] = []): Promise<void> {
  if (process.platform !== 'linux') return;
  const known = [...family];
  for (const name of ['SIGQUIT', 'SIGKILL'] as const) {
    known.push(...processesIn(directory));
    for (const one of known.filter(isLiving)) signal(one.pid, name);
    const gone = () => (known.some(isLiving) || processesIn(directory).length > 0 ? undefined : true);
    if (await poll(gone, { timeoutMs: 1_000, everyMs: 20 })) {
      rmSync(lockFile(directory), { force: true });
      return;
    }
  }
}

function hasEnded(process: ProcessIdentity, timeoutMs: number): Promise<true | undefined> {
  return poll(() => (isLiving(process) ? undefined : true), { timeoutMs, everyMs: 20 });
}

/** Every server process works in its cluster's folder. None where there is no /proc to read. */
export function processesIn(directory: string): ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const cluster = realpathSync(directory);
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids
    .filter((pid) => pid !== process.pid && workingDirectoryOf(pid) === cluster && isAlive(pid))
    .map(identityOf);
}
