import { type Stats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** That the files below a folder take on the disk; what goes away meanwhile counts as nothing. */
export function bytesOnDisk(folder: string): Promise<number> {
  return sumBelow(folder, ({ blocks }) => blocks * 512);
}

/** By the lengths of the files below a folder, whether they are on the disk yet or not. */
export function lengthOfFiles(folder: string): Promise<number> {
  return sumBelow(folder, ({ size }) => size);
}

async function sumBelow(folder: string, bytesOf: (file: Stats) => number): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.reduce((sum, entry) => {
    if (!entry.isFile()) return sum;
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
    return sum + (found ? bytesOf(found) : 0);
  }, 0);
}
