import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../../infra/platform/poll.ts';

/** A file system of its own, to be filled. */
export interface SmallDisk {
  path: string;
  freeBytes(): number;
  /** Takes space until about so much is free. */
  fill(freeBytes: number): void;
  /** Gives all that back. */
  clear(): void;
  /** Waits for processes that are just ending on it. */
  remove(): Promise<void>;
  /** False while it is in use. */
  tryToRemove(): boolean;
}

const MIB = 1024 * 1024;
const UNMOUNTED = { timeoutMs: 10_000, everyMs: 20 };

/** Whether this account may mount a file. */
export function mayMount(): boolean {
  try {
    return mountSmallDisk(16 * MIB).tryToRemove();
  } catch {
    return false;
  }
}

/** ext4 in a sparse file: what is taken by `fill` costs no memory and no writing. */
export function mountSmallDisk(bytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'metergate-disk-'));
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')];
  writeFileSync(image, '');
  truncateSync(image, bytes);
  mkdirSync(path);
  const quietly = { stdio: 'ignore' } as const;
  try {
    execFileSync('mkfs.ext4', ['-q', '-m', '0', '-E', 'lazy_itable_init=1,nodiscard', image], quietly);
    execFileSync('mount', ['-o', 'loop', image, path], quietly);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  const tryToRemove = (): boolean => {
    if (spawnSync('umount', [path], quietly).status !== 0) return false;
    rmSync(folder, { recursive: true, force: true });
    return true;
  };
  const filler = join(path, 'filler');
  let taken = 0;
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  return {
    path,
    freeBytes,
    fill(bytesLeft) {
      const more = Math.max(0, freeBytes() - bytesLeft);
      if (more === 0) return;
      // What others take meanwhile makes it fail: then as much is taken as there is.
      const { error } = spawnSync('fallocate', ['-o', String(taken), '-l', String(more), filler], quietly);
      if (error) throw error;
      taken += more;
    },
    clear() {
      taken = 0;
      rmSync(filler, { force: true });
    },
    tryToRemove,
    async remove() {
      if (!(await poll(() => tryToRemove() || undefined, UNMOUNTED))) {
        throw new Error(`${path} is still in use`);
      }
    },
  };
}
