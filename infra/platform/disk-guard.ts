import { type StatsFs, statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';

/** Reports when the disk is so full that usage must be rejected, before the stores that share it stop. */
export interface DiskGuard {
  isLow(): boolean;
  close(): void;
}

export interface DiskGuardOptions {
  directory: string;
  /** Free bytes below which the disk is low; else 1 GiB or 5 % of the disk, whichever is more. */
  bytesMin?: number | undefined;
  log: Logger;
  /** For tests that fill the disk. */
  readSpace?: (directory: string) => Promise<Space>;
}

/** What an account without privileges may still use. */
export type Space = Pick<StatsFs, 'bsize' | 'blocks' | 'bavail'>;

const LOOK_MS = 1_000;
const GIB = 1024 ** 3;
const SHARE_MIN = 0.05;

/** Looks once in this turn, then each second. A look that fails leaves what was known. */
export function createDiskGuard(options: DiskGuardOptions): DiskGuard {
  const { directory, bytesMin, log, readSpace = statfs } = options;
  let low = false;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      notify(await readSpace(directory));
    } catch (error) {
      log.warn({ err: error, directory }, 'cannot read how full the disk is');
    } finally {
      looking = false;
    }
  }

  function notify({ bsize, blocks, bavail }: Space): void {
    const freeBytes = bavail * bsize;
    const freeBytesMin = bytesMin ?? Math.max(GIB, blocks * bsize * SHARE_MIN);
    const isLow = freeBytes < freeBytesMin;
    const message = isLow ? 'the disk is nearly full: no usage is taken' : 'the disk has room again';
    if (isLow !== low) log.warn({ directory, freeBytes, freeBytesMin }, message);
    low = isLow;
  }

  notify(statfsSync(directory));
  const timer = setInterval(look, LOOK_MS).unref();
  return { isLow: () => low, close: () => clearInterval(timer) };
}

/** Whether a write failed because the disk, or this account's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}
