import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Fatal } from '../schemas/failures.ts';
import { claimSocket } from './claim-socket.ts';
import { poll } from './poll.ts';
import { identityOf, isLiving, type ProcessIdentity } from './process-identity.ts';

export interface LockOptions {
  /** For a living owner: 0 where it means a second instance, more where it is on its way out. */
  waitMs: number;
  /** The process that we end with. An owner whose keeper is gone is on its way out and is waited for. */
  keeper?: ProcessIdentity;
}

interface Owner extends ProcessIdentity {
  keeper?: ProcessIdentity;
}

const ORPHAN_WAIT_MS = 20_000;
const POLL_EVERY_MS = 25;

/**
 * Makes this process the only owner of `file` until the function that is returned is called, or the process
 * ends in whatever way: what a dead owner left is taken over. Throws Fatal `data_dir_in_use` (exit 3) when
 * another one lives on. Holds among the processes of one kernel, in whatever containers, not across machines
 * that share a folder.
 */
export async function acquireLock(file: string, { waitMs, keeper }: LockOptions): Promise<() => void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const me: Owner = { ...identityOf(process.pid), ...(keeper ? { keeper } : {}) };
  const attempt = () => tryLock(file, me);
  const owner = readOwner(file);
  const orphaned = owner?.keeper !== undefined && !isLiving(owner.keeper);
  const timeoutMs = orphaned ? Math.max(waitMs, ORPHAN_WAIT_MS) : waitMs;
  const release = await poll(attempt, { timeoutMs, everyMs: POLL_EVERY_MS });
  if (release) return release;
  const holder = readOwner(file);
  const who = holder ? `Process ${holder.pid}` : 'Another process';
  throw new Fatal(
    'data_dir_in_use',
    `${who} holds ${file}: another Metergate runs on this DATA_DIR. ` +
      'Stop it first, or start this one with another DATA_DIR.',
  );
}

/** The file tells who it is, and the socket whether he lives where pids are of another container. */
async function tryLock(file: string, me: Owner): Promise<(() => void) | undefined> {
  if (isHeld(file)) return undefined;
  const leave = await claimSocket(`${file}.socket`);
  if (!leave) return undefined;
  if (!putOwner(file, me)) {
    removeStale(file, me);
    if (!putOwner(file, me)) {
      leave();
      return undefined;
    }
  }
  return () => {
    rmSync(file, { force: true });
    leave();
  };
}

/**
 * Two that find the same dead owner must not remove each other's fresh lock: who may remove is decided by a
 * second lock, and the file is looked at again under it.
 */
function removeStale(file: string, me: Owner): void {
  const breaker = `${file}.takeover`;
  if (!putOwner(breaker, me)) {
    if (!isHeld(breaker)) rmSync(breaker, { force: true });
    return;
  }
  if (!isHeld(file)) rmSync(file, { force: true });
  rmSync(breaker, { force: true });
}

/**
 * Atomic, and never seen half-written: a complete file gets its second name, or there is one of that name.
 */
function putOwner(file: string, owner: Owner): boolean {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify(owner), { mode: 0o600 });
  try {
    linkSync(mine, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}

/** Our own pid in a file that we did not write was left before the machine restarted. */
function isHeld(file: string): boolean {
  const owner = readOwner(file);
  return owner !== undefined && owner.pid !== process.pid && isLiving(owner);
}

/** Undefined when there is none, and for what a power cut left of one. */
function readOwner(file: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}
