import { readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { kill, pid as ownPid } from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** `owner.json` of a folder: which process writes, or drains, it. */
export interface Owner {
  version: 1;
  pid: number;
  /** '' where the platform has none; the same of `startedAt` and `bootId`. */
  pidNamespace: string;
  /** In ticks since the boot; `released` when the process does not use the folder any more. */
  startedAt: string;
  bootId: string;
  host: string;
  sdk: string;
  /** Of a worker thread, which may end before its process. */
  thread?: Thread;
}

/** Its number and start as the system has them; 0 and '' where that cannot be known. */
interface Thread {
  id: number;
  startedAt: string;
}

/** Of a process that cannot be seen from here. It renews its mark every 10 s. */
const SILENT_MS = 120_000;
const FILE = 'owner.json';
const RELEASED = 'released';
const MISSING = new Set(['ENOENT', 'ESRCH', 'ENOTDIR']);

export function thisProcess(): Owner {
  return {
    version: 1,
    pid: ownPid,
    pidNamespace: textOf(() => readlinkSync('/proc/self/ns/pid')),
    startedAt: textOf(() => startOf(String(ownPid)) ?? ''),
    bootId: textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    host: hostname(),
    sdk: 'node/0.1.0',
    ...(isMainThread ? {} : { thread: threadOf(textOf(() => readlinkSync('/proc/thread-self'))) }),
  };
}

/** `<pid>/task/<id>`. */
export function threadOf(link: string): Thread {
  const id = Number(/\d+$/.exec(link)?.[0] ?? 0);
  return { id, startedAt: id === 0 ? '' : (startOf(link) ?? '') };
}

export function writeOwner(folder: string, owner: Owner): void {
  writeFileSync(join(folder, FILE), JSON.stringify(owner));
}

/** Throws ENOENT when the folder is gone: another process has taken it over. */
export function renewOwner(folder: string): void {
  const now = new Date();
  utimesSync(join(folder, FILE), now, now);
}

/** From now on any process may take the folder over. */
export function releaseOwner(folder: string, owner: Owner): void {
  writeOwner(folder, { ...owner, startedAt: RELEASED });
  utimesSync(join(folder, FILE), 0, 0);
}

/** True when no process uses the folder any more, as far as `self` can know. */
export function isOrphan(folder: string, self: Owner): boolean {
  try {
    return hasEnded(folder, self);
  } catch {
    // Nothing can be known without descriptors, say: what lives must not be taken over.
    return false;
  }
}

function hasEnded(folder: string, self: Owner): boolean {
  const owner = readOwner(folder);
  // A folder that is being made has none yet.
  if (!owner) return isSilent(folder);
  // Of a later release: it may mean something else.
  if (owner.version !== 1) return false;
  if (owner.startedAt === RELEASED) return true;
  if (owner.host === self.host && owner.bootId !== self.bootId) return true;
  const isSeen = owner.host === self.host && owner.pidNamespace === self.pidNamespace;
  if (!isSeen) return isSilent(join(folder, FILE));
  return !isRunning(owner) || hasEndedThread(folder, owner);
}

function hasEndedThread(folder: string, { pid, thread }: Owner): boolean {
  if (thread === undefined) return false;
  if (thread.startedAt === '') return isSilent(join(folder, FILE));
  return startOf(`${pid}/task/${thread.id}`) !== thread.startedAt;
}

function readOwner(folder: string): Owner | undefined {
  try {
    const owner = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Partial<Owner>;
    return Number.isInteger(owner.pid) && typeof owner.host === 'string' ? (owner as Owner) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) expectMissing(error);
    return undefined;
  }
}

function isSilent(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > SILENT_MS;
  } catch {
    return false;
  }
}

function isRunning({ pid, startedAt }: Owner): boolean {
  if (startedAt !== '') return startOf(String(pid)) === startedAt;
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/**
 * Of a process, or of a thread by its path behind `/proc/`: field 22 of its stat. Undefined when it has
 * ended, though its parent may not have noticed.
 */
function startOf(path: string): string | undefined {
  const stat = statOf(path);
  // The name before it, in parentheses, may have spaces and parentheses.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === undefined || state === '' || state === 'Z' || state === 'X' ? undefined : fields[18];
}

/** '' of one that has ended. Throws where that cannot be known. */
function statOf(path: string): string {
  try {
    return readFileSync(`/proc/${path}/stat`, 'utf8');
  } catch (error) {
    expectMissing(error);
    return '';
  }
}

/** Throws any other error of the system. */
function expectMissing(error: unknown): void {
  const { code = '' } = error as NodeJS.ErrnoException;
  // mutant: unknown-owner-ended
  if (!MISSING.has(code)) throw error;
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
