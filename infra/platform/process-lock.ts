import { closeSync, constants, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { Fatal } from '../../schemas/failures.ts';
import { poll } from './poll.ts';
import { identityOf, isLiving, type ProcessIdentity } from './process-identity.ts';

/** The content of the file. */
interface Owner extends ProcessIdentity {
  keeper?: ProcessIdentity;
}

/** A process that was killed holds its files until the kernel has taken back its memory, gigabytes or not. */
const DYING_WAIT_MS = 2_000;
/** A stop in order. */
const ORPHAN_WAIT_MS = 20_000;
const POLL_EVERY_MS = 25;

/**
 * Makes this process the only owner of `file` until the returned function is called, or the process ends in
 * any way: the kernel holds the lock, for the open file, and releases it when that is closed. The content of
 * the file only names the owner. `keeper` is the process that we end with: an owner whose keeper has died is
 * about to end, and is waited for. Throws Fatal `data_dir_in_use` (exit 3) when another one lives on,
 * `data_dir_closed` (exit 2) where nothing can be locked. Works among the processes of one kernel, in any
 * containers; not across machines that share a folder, unless its file system supports that.
 */
export async function acquireLock(file: string, keeper?: ProcessIdentity): Promise<() => void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const fd = openFile(file);
  try {
    await waitForLock(file, fd);
    writeOwner(fd, { ...identityOf(process.pid), ...(keeper ? { keeper } : {}) });
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return () => {
    ftruncateSync(fd);
    closeSync(fd);
  };
}

/**
 * Never removed: a process with the removed file open and one that created the next would both hold a lock.
 */
function openFile(file: string): number {
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw cause;
    const message = `${file} is of another account (${code}): run Metergate under the one that has DATA_DIR.`;
    throw new Fatal('data_dir_closed', message, { cause });
  }
}

async function waitForLock(file: string, fd: number): Promise<void> {
  const isGrantedIn = (timeoutMs: number) =>
    poll(() => isGranted(file, fd) || undefined, { timeoutMs, everyMs: POLL_EVERY_MS });
  if (await isGrantedIn(DYING_WAIT_MS)) return;
  // Checked only now: a keeper that was killed a short time ago has ended by then.
  const keeper = readOwner(file)?.keeper;
  if (keeper && !isLiving(keeper) && (await isGrantedIn(ORPHAN_WAIT_MS))) return;
  const owner = readOwner(file);
  const owning = owner ? `Process ${owner.pid}` : 'Another process';
  throw new Fatal(
    'data_dir_in_use',
    `${owning} holds ${file}: another Metergate runs on this DATA_DIR. ` +
      'Stop it first, or start this one with another DATA_DIR.',
  );
}

function isGranted(file: string, fd: number): boolean {
  try {
    return tryLock(fd);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // POSIX leaves a file system the choice between this and EAGAIN, which the package knows.
    if (code === 'EACCES') return false;
    throw new Fatal(
      'data_dir_closed',
      `${file} cannot be locked (${code}): set DATA_DIR to a folder whose file system has locks.`,
      { cause },
    );
  }
}

/** Over the existing content: a full disk may have no room for what was given back to it. */
function writeOwner(fd: number, owner: Owner): void {
  ftruncateSync(fd, writeSync(fd, JSON.stringify(owner), 0));
}

/** Undefined when it names none, and for what a power cut left of it. */
function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}
